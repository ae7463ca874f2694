"""A model's figures as its page shows them: the page's template calls what is here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from math import prod
from typing import Any

from features.modeller import findings
from features.modeller.design import NAMES, Model
from features.modeller.evaluation import SIZES, Evaluation, Place, evaluated, matcher
from features.scratch.limits import MOST_READS, MOST_WRITES

MOST_BLOCKS, MINUS = 40, "\N{MINUS SIGN}"
"""The most blocks of a bar."""


def amount(number: float) -> str:
    """A number in words from a million on: ``829 million``."""
    for least, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= least:
            return f"{number / least:,.3g} {word}"
    return findings.few(number)


def size(number: float) -> str:
    """Bytes in the unit that fits."""
    for least, word in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "KB")):
        if number >= least:
            return f"{number / least:,.3g} {word}"
    return f"{number:,.0f} bytes"


def dollars(number: float) -> str:
    """A sum, without cents from ten dollars on."""
    sign = MINUS if number < 0 else ""
    return f"{sign}${int(abs(number) + 0.5):,}" if abs(number) >= 10 else f"{sign}${abs(number):,.2f}"


def change(saving: float) -> str:
    """What a change saves, or costs more."""
    return f"{'+' if saving < 0 else MINUS}{dollars(abs(saving))}"


def blocks(parts: Sequence[tuple[str, float]]) -> list[str]:
    """The kinds of a bar's blocks: one for each item or unit, or fewer if there are many."""
    whole = sum(number for _, number in parts)
    scale = min(1.0, MOST_BLOCKS / whole) if whole else 1.0
    kinds = [kind for kind, number in parts for _ in range(max(round(number * scale), 1 if number >= 0.5 else 0))]
    return kinds[: MOST_BLOCKS + 2]


def shown(model: Model, before: Model | None) -> dict[str, Any]:
    """All figures of a model, what its changes lead to, and what it costs more than the one before it."""
    now, found = evaluated(model), findings.of(model)
    useful = [each for each in found if each.mend.way and (each.rank == findings.BREAKS or each.saving > 0)]
    tried = findings.tried(model, [each.key for each in useful]) if len(useful) > 1 else None
    return {
        "model": model, "now": now, "sizes": SIZES, "most_reads": MOST_READS, "most_writes": MOST_WRITES,
        "amount": amount, "size": size, "dollars": dollars, "change": change, "blocks": blocks,
        "units": findings.one_place, "format": format,
        "findings": [each for each in found if each.rank != findings.LOOK],
        "looks": [each for each in found if each.rank == findings.LOOK],
        "breaks": sum(each.rank == findings.BREAKS for each in found),
        "useful": len(useful), "tried": tried and evaluated(tried),
        "still": any(each.rank == findings.BREAKS for each in findings.of(tried)) if tried else False,
        "chart": [*_chart(now)], "patterns": {each.at: each for each in model.patterns},
        "entities": {each.name: each.count for each in model.entities}.get,
        "bytes": {each.entity.name: each.mean for each in now.sample.of("")}.get,
        "more": now.now.total() - evaluated(before).now.total() if before and before.entities else None,
    }  # fmt: skip


def _chart(now: Evaluation) -> Iterator[dict[str, Any]]:
    """The entity chart: the partitions of the table and of each index, what lies in them, and who reads them."""
    for index in ("", *(each.name for each in now.model.indexes)):
        places = [place for place in now.sample.of(index) if place.items]
        rows = []
        owners = {label: place.entity.name for place in reversed(places) for label in _labels(place)}
        for label in dict.fromkeys(label for place in places for label in _labels(place)):
            shape = matcher(label)
            lie = [(place, [at for at, pk in enumerate(place.pks) if shape.fullmatch(pk)]) for place in places]
            held = [
                (p.entity.name, len(n) / p.made * p.entity.count, sum(p.sizes[at] for at in n) / len(n))
                for p, n in lie
                if n
            ]
            if not held:  # a value has a # or a name in angle brackets
                continue
            names = NAMES.findall(label)
            apart = prod(now.model.values(owners[label], name, now.model.size) for name in names)
            loads = [load for (at, other), load in now.loads.items() if at == index and _same(label, other)]
            rows.append({
                "label": label, "partitions": apart, "grows": not names,
                "each": [(name, max(count / apart, 1 if names else 0)) for name, count, _ in held],
                "size": sum(count * mean for _, count, mean in held) / apart,
                "reads": sum(reads for reads, _ in loads), "writes": sum(writes for _, writes in loads),
                "by": [each.at + 1 for each in now.model.patterns if each.pk and each.index == index
                       and now.answered(each) and _same(label, now.label(each))],
            })  # fmt: skip
        yield {"name": index or "Table", "rows": rows}


def _labels(place: Place) -> list[str]:
    """A template, or the partitions that it makes if they are few."""
    few = all(place.entity.spec(name)[0] in ("one", "while") for name in NAMES.findall(place.pk))
    values = sorted({*place.pks})
    return values if few and len(values) <= 6 else [place.pk]


def _same(label: str, other: str) -> bool:
    return bool(matcher(label).fullmatch(other) or matcher(other).fullmatch(label))


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The first field that differs between two models' JSON: ``Borrow a book: rate 20 a second → 25 a second``."""
    for kind in ("entities", "indexes", "patterns"):
        for one, other in zip_longest(before.get(kind, []), after.get(kind, []), fillvalue=dict[str, Any]()):
            for name in {**other, **one}:
                if one.get(name) != other.get(name):
                    was, becomes = (each.get(name, "nothing") for each in (one, other))
                    plain = isinstance(was, str) and isinstance(becomes, str) and name != "name"
                    told = f" {was[:40]} → {becomes[:40]}" if plain else ""
                    return f"{other.get('name') or one.get('name') or kind}: {name}{told}"
    return ""
