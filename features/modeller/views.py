"""A model's figures as its page shows them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import zip_longest
from math import prod
from typing import Any

from features.modeller import findings
from features.modeller.design import NAMES, Model, Pattern
from features.modeller.evaluation import SIZES, Bill, Evaluation, Place, evaluated, matcher
from features.modeller.findings import Bar, Finding
from features.textbook.drawing import MOST_READS, MOST_WRITES

PARTS = {
    "reads": "Reads", "writes": "Writes to the table", "index writes": "Writes to indexes",
    "storage": "Storage of the table", "index storage": "Storage of indexes",
}  # fmt: skip
WIDE, GAP, MOST_BLOCKS, MINUS = 1000, 3, 40, "\N{MINUS SIGN}"
"""The width of a drawn bar in its own units, the gap between its parts, and the most blocks of one."""


def amount(number: float) -> str:
    """A number in words from a million on: ``829 million``."""
    for least, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= least:
            return f"{number / least:,.3g} {word}"
    return f"{number:,.0f}" if number >= 10 or number == int(number) else f"{number:,.1f}"


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


def units(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")


def shown(model: Model, before: Model | None) -> dict[str, Any]:
    """All figures of a model, and what it costs more than the one before it."""
    now = evaluated(model)
    found = findings.of(model)
    useful = [each for each in found if each.mend.way and (each.rank == findings.BREAKS or each.saving > 0)]
    whole = findings.tried(model, [each.key for each in useful]) if len(useful) > 1 else None
    bill, total = now.now, now.now.total()
    rate = sum(each.rate * each.times for each in model.patterns)
    return {
        "items": amount(model.size) if model.entities else "no",
        "held": size(bill.amounts["storage"] * 1e9), "copied": size(bill.amounts["index storage"] * 1e9),
        "rate": amount(rate), "at_peak": amount(rate * model.peak),
        "total": dollars(total), "exact": [f"${bill.total(mode):,.2f}" for mode in range(3)],
        "follows": dollars(bill.total(1)), "stays": dollars(bill.total(2)),
        "parts": [*_parts(bill)],
        "findings": [_finding(each) for each in found if each.rank != findings.LOOK],
        "looks": [_finding(each) for each in found if each.rank == findings.LOOK],
        "all_tried": dollars(evaluated(whole).now.total()) if whole else "",
        "all_break": any(each.rank == findings.BREAKS for each in findings.of(whole)) if whole else False,
        "useful": len(useful), "together": dollars(total - evaluated(whole).now.total()) if whole else "",
        "breaks": sum(each.rank == findings.BREAKS for each in found),
        "overpays": sum(each.rank == findings.OVERPAYS for each in found),
        "chart": [*_chart(now)], "patterns": {each.at: _pattern(now, each) for each in model.patterns},
        "requests": f"{sum(now.dollars(each) for each in model.patterns):,.2f}",
        "grown": [(amount(n), dollars(now.bill(n).total())) for n in SIZES], "sizes": [amount(n) for n in SIZES],
        "entities": {each.name: _entity(now, each.name) for each in model.entities},
        "difference": _difference(total, before),
        "most_reads": f"{MOST_READS:,}", "most_writes": f"{MOST_WRITES:,}",
    }  # fmt: skip


def _difference(total: float, before: Model | None) -> str:
    if before is None or not before.entities:
        return ""
    more = round(total - evaluated(before).now.total(), 2)
    return f"{'+' if more > 0 else MINUS}${abs(more):,.2f}" if more else "no change"


def _parts(bill: Bill) -> Iterator[dict[str, str]]:
    """The parts of the price, each with its figures and its place and width in the drawn bar."""
    whole, at = sum(bill.priced(part)[0] for part in PARTS) or 1, 0.0
    for part, name in PARTS.items():
        price = bill.priced(part)[0]
        on_demand, follows, stays = (f"${each:,.2f}" for each in bill.priced(part))
        told = size(bill.amounts[part] * 1e9) if "storage" in part else f"{bill.amounts[part]:,.1f} units/s"
        width = price / whole * (WIDE - GAP * (len(PARTS) - 1))
        yield {"kind": part.replace(" ", "-"), "name": name, "amount": told, "short": dollars(price),
               "on_demand": on_demand, "follows": follows, "stays": stays,
               "x": f"{at:.1f}", "width": f"{width:.1f}"}  # fmt: skip
        at += width + GAP


def _finding(each: Finding) -> dict[str, Any]:
    return {
        "key": each.key, "rank": each.rank, "title": each.title, "text": each.text, "note": each.note,
        "was": each.mend.was, "becomes": each.mend.becomes, "tries": each.mend.way is not None,
        "saving": f"{'+' if each.saving < 0 else MINUS}{dollars(abs(each.saving))}",
        "costs": each.saving < 0, "bar": _bar(each.bar) if each.bar else None,
    }  # fmt: skip


def _bar(bar: Bar) -> dict[str, Any]:
    whole = max(bar.first + bar.second, bar.limit) or 1
    first, second = bar.first / whole * WIDE, bar.second / whole * WIDE
    return {**asdict(bar), "x": f"{first:.1f}", "width": f"{second:.1f}", "at": f"{bar.limit / whole * WIDE:.1f}"}


def _entity(now: Evaluation, name: str) -> dict[str, str]:
    place = next((each for each in now.sample.of("") if each.entity.name == name and each.sizes), None)
    count = now.model.entity(name).count
    return {"bytes": f"{sum(place.sizes) / len(place.sizes):,.0f}" if place else "", "count": amount(count)}


def _chart(now: Evaluation) -> Iterator[dict[str, Any]]:
    """The entity chart: the partitions of the table and of each index, what lies in them, and who reads them."""
    for index in ("", *(each.name for each in now.model.indexes)):
        places = [place for place in now.sample.of(index) if place.items]
        templates = dict.fromkeys(label for place in places for label in _labels(place))
        rows = []
        for label in templates:
            shape = matcher(label)
            lie = [(place, [at for at, pk in enumerate(place.pks) if shape.fullmatch(pk)]) for place in places]
            lie = [(place, numbers) for place, numbers in lie if numbers]
            if not lie:  # a value has a # or a name in angle brackets
                continue
            entity = lie[0][0].entity.name
            names = NAMES.findall(label)
            apart = prod(now.model.values(entity, name, now.model.size) for name in names)
            held = [
                (p.entity.name, len(n) / p.made * p.entity.count, sum(p.sizes[at] for at in n) / len(n)) for p, n in lie
            ]
            loads = [load for (at, other), load in now.loads.items() if at == index and _same(label, other)]
            reads, writes = (sum(load[kind] for load in loads) for kind in (0, 1))
            rows.append({
                "label": label, "partitions": amount(apart), "grows": not names,
                "each": ", ".join(_several(name, max(count / apart, 1 if names else 0)) for name, count, _ in held),
                "size": size(sum(count * mean for _, count, mean in held) / apart),
                "reads": f"{reads:,.0f}", "writes": f"{writes:,.0f}",
                "reads_over": reads > MOST_READS, "writes_over": writes > MOST_WRITES,
                "by": [each.at + 1 for each in now.model.patterns if each.pk and each.index == index
                       and now.answered(each) and _same(label, now.label(each))],
            })  # fmt: skip
        yield {"name": index or "Table", "rows": rows}


def _several(name: str, count: float) -> str:
    return name if count == 1 else f"{name} × {amount(count)}"  # noqa: RUF001  # it is read as a multiplication


def _labels(place: Place) -> list[str]:
    """A template, or the partitions that it makes if they are few."""
    few = all(place.entity.spec(name)[0] in ("one", "while") for name in NAMES.findall(place.pk))
    values = sorted({*place.pks})
    return values if few and len(values) <= 6 else [place.pk]


def _same(label: str, other: str) -> bool:
    return bool(matcher(label).fullmatch(other) or matcher(other).fullmatch(label))


def _pattern(now: Evaluation, pattern: Pattern) -> dict[str, Any]:
    """A pattern's row: what one request reads or writes, its units, its price, and how it grows."""
    written = now.written(pattern)
    row: dict[str, Any] = {"dollars": f"{now.dollars(pattern):,.2f}"}
    if not pattern.reads:
        table, indexes = (sum(u for (at, _), u in written.items() if bool(at) == of) for of in (False, True))
        blocks = [("writes", table), ("index-writes", indexes)]
        told = f"{units(table)} in the table" + (f", {units(indexes)} in indexes" if indexes else "")
        every = units(table + indexes)
        written_row = {"units": f"{every} W", "trips": "1", "grown": [every] * len(SIZES), "grows": False}
        return row | written_row | {"told": told, "blocks": _blocks(blocks)}
    came = now.read(pattern, now.model.size)
    dropped = came.items - came.kept
    told = f"{amount(came.items)} read, " + (f"{amount(dropped)} dropped" if dropped >= 0.05 else "all returned")
    grown = [now.read(pattern, n).units for n in SIZES]
    return row | {
        "told": told if came.items else "nothing found", "blocks": _blocks([("band", dropped), ("kept", came.kept)]),
        "units": f"{units(came.units)} R", "trips": f"{came.trips:,}", "grown": [units(each) for each in grown],
        "grows": grown[-1] > 10 * max(grown[0], 1),
    }  # fmt: skip


def _blocks(parts: Sequence[tuple[str, float]]) -> list[tuple[str, str]]:
    """Blocks of a bar, one for each item or unit, or fewer if there are many: kind and place."""
    whole = sum(number for _, number in parts)
    scale = min(1.0, MOST_BLOCKS / whole) if whole else 1.0
    kinds = [kind for kind, number in parts for _ in range(max(round(number * scale), 1 if number >= 0.5 else 0))]
    return [(kind, str(10 * at)) for at, kind in enumerate(kinds[: MOST_BLOCKS + 2])]


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> str:
    """The first field that differs between two models' JSON: ``Borrow a book: rate 20 a second → 25 a second``."""
    for kind in ("entities", "indexes", "patterns"):
        for one, other in zip_longest(before.get(kind, []), after.get(kind, []), fillvalue=dict[str, Any]()):
            for name in {**one, **other}:
                if one.get(name) != other.get(name):
                    was, becomes = (each.get(name, "nothing") for each in (one, other))
                    plain = isinstance(was, str) and isinstance(becomes, str) and name != "name"
                    told = f" {was[:40]} → {becomes[:40]}" if plain else ""
                    return f"{other.get('name') or one.get('name') or kind}: {name}{told}"
    return ""
