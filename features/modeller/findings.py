"""What breaks in a model, what it pays too much for, and what is worth a look, with a change and what the change saves.

A finding is a rule of AWS's documents with its arithmetic; ``findings.toml`` has the sentences. Its change is a
function of models, so changes can be combined. A saving is the difference of two bills: the whole changed model is
evaluated again.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import ceil, prod
from pathlib import Path

from features.modeller.design import NAMES, Change, Entity, Index, Model, Pattern, key_text
from features.modeller.evaluation import FEW, Evaluation, Place, evaluated, literal, matcher
from features.scratch.limits import LARGEST, MOST_READS, MOST_WRITES
from shared.dynamodb.capacity import WRITE_BYTES, units_read
from shared.dynamodb.schema import PARTITION_KEY
from shared.values.prices import READ

BREAKS, OVERPAYS, LOOK = 0, 1, 2
SENTENCES: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("findings.toml").read_text(encoding="utf-8")
)
SHARD, SHARDS, NEAR, UNREAD = "Shard", (2, 5, 10, 20), 0.8, 0.05
"""The attribute and numbers of shards; the parts of a limit and of an index from which there is a finding."""

Way = Callable[[Model], Model]


@dataclass(frozen=True, slots=True)
class Mend:
    """A change: the lines that it replaces, those it makes, what it does to a model, its sentence and its figures."""

    was: str
    becomes: str
    way: Way | None
    says: str
    figures: Mapping[str, object] = field(default_factory=dict)


def _way(
    entity: Callable[[Entity], Entity] = lambda each: each,
    index: Callable[[Index], Index | None] = lambda each: each,
    pattern: Callable[[Pattern], Pattern] = lambda each: each,
) -> Way:
    """A change of each part of a model. An index that becomes None is left out."""
    return lambda model: replace(
        model,
        entities=tuple(map(entity, model.entities)),
        indexes=tuple(filter(None, map(index, model.indexes))),
        patterns=tuple(map(pattern, model.patterns)),
    )


NONE = Mend("", "", None, "none")
"""No one change mends it; the sentence says where to look."""


@dataclass(frozen=True, slots=True)
class Bar:
    """Two amounts of a kind, drawn beside each other, with their texts and a limit, or 0."""

    kind: str
    first: float
    second: float
    left: str
    right: str
    limit: float = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding: ``key`` names it in forms, ``kind`` its sentences. A month costs ``saving`` dollars less after it."""

    key: str
    kind: str
    rank: int
    figures: Mapping[str, object]
    mend: Mend = NONE
    bar: Bar | None = None
    saving: float = 0.0

    @property
    def title(self) -> str:
        return SENTENCES[self.kind]["title"].format(**self.figures)

    @property
    def text(self) -> str:
        return SENTENCES[self.kind]["text"].format(**self.figures)

    @property
    def note(self) -> str:
        says = SENTENCES[self.kind].get(self.mend.says, "")
        return says.format(**{**self.figures, **self.mend.figures})


def of(model: Model) -> list[Finding]:
    """The findings of a model: what breaks, then what costs most, then what is worth a look."""
    now = evaluated(model)
    found = [
        *chain.from_iterable(_busy(now, *at, loads) for at, loads in now.loads.items()),
        *(_large(now, place) for place in now.sample.of("")),
        *(_unread(now, index) for index in model.indexes),
        *(_filter(now, pattern) for pattern in model.patterns),
        *(_scan(now, pattern) for pattern in model.patterns),
        *(_endless(now, place) for place in now.sample.places),
        *(_lasting(model, entity) for entity in model.entities),
    ]
    priced = []
    for each in filter(None, found):
        left = evaluated(each.mend.way(model)).now.total() if each.mend.way else 0.0
        saving = round(now.now.total() - left, 2) if each.mend.way else 0.0
        if each.rank != OVERPAYS or not each.mend.way or saving >= 0.01:
            priced.append(replace(each, saving=saving))
    return sorted(priced, key=lambda each: (each.rank, -each.saving))


def tried(model: Model, keys: Sequence[str]) -> Model:
    """A model with the changes of some of its findings, one after the other."""
    ways = {each.key: each.mend.way for each in of(model)}
    for key in keys:
        if way := ways.get(key):
            model = way(model)
    return model


def _busy(now: Evaluation, index: str, label: str, loads: Sequence[float]) -> Iterator[Finding]:
    """A partition that is asked for more than one partition does."""
    for units, most, what in zip(loads, (MOST_READS, MOST_WRITES), ("read", "write"), strict=True):
        if units <= NEAR * most:
            continue
        kind, rank = (f"busy-{what}", BREAKS) if units > most else (f"near-{what}", LOOK)
        figures = {"label": label, "most": most, "units": units, "over": units - most}
        left, right = f"{what.title()} units a second, peak", f"{units:,.0f} of {most:,}"
        bar = Bar(what, min(units, most), max(units - most, 0), left, right, most)
        mend = (what == "write" and _apart(now, index, label, units)) or NONE
        yield Finding(f"{what}:{index}:{label}", kind, rank, figures, mend, bar)


def _apart(now: Evaluation, index: str, label: str, units: float) -> Mend | None:
    """Spread a busy partition over shards, and over days where all its readers ask for one day."""
    places = [place for place in now.sample.of(index) if matcher(place.pk).fullmatch(label)]
    if not places or any(place.entity.spec(SHARD) for place in places):
        return None
    first, names = places[0], {place.entity.name for place in places}
    shards = next((each for each in SHARDS if units / each <= MOST_WRITES / 2), SHARDS[-1])
    readers = {
        each.at: (each.name, _day_of(each))
        for each in now.model.patterns
        if each.reads and each.index == index and matcher(first.pk).fullmatch(now.label(each))
    }
    day = next((name for name in NAMES.findall(first.sk) if first.sk.startswith(f"<{name}>")), "")
    others = [name for name, spec in first.entity.attributes if spec.split()[0] in ("of", "id")]
    dated = first.entity.spec(day)[:1] in (["day"], ["after"]) and len(places) == 1 and others
    by_day = bool(dated and readers and all(asked for _, asked in readers.values()))
    pk = f"{day.upper()}#<{day}>#<{SHARD}>" if by_day else f"{first.pk}#<{SHARD}>"
    counted = 1 if NAMES.search(first.sk) or index else shards  # an item that is alone there becomes several

    def entity(each: Entity) -> Entity:
        if each.name not in names:  # there are as many of it as before
            counted_by = counted > 1 and names & {*each.said.split()}
            return replace(each, said=f"{each.count:.0f}") if counted_by else each
        keys = [
            (name, (pk, f"<{others[0]}>" if by_day else pair[1]) if (name, pair[0]) == (index, first.pk) else pair)
            for name, pair in each.keys
        ]
        said = f"{each.count * counted:.0f}" if counted > 1 else each.said
        attributes = (*each.attributes, (SHARD, f"one {' '.join(map(str, range(shards)))}"))
        return replace(each, keys=tuple(keys), attributes=attributes, said=said, count=each.count * counted)

    def pattern(each: Pattern) -> Pattern:
        if each.at not in readers:
            return each
        asked = f"{day.upper()}#{readers[each.at][1]}#<{SHARD}>" if by_day else f"{each.pk}#<{SHARD}>"
        return replace(each, pk=asked, sk=() if by_day else each.sk, times=each.times * shards)

    listed = ", ".join(f"“{name}”" for name, _ in readers.values())
    figures = {"shards": shards, "each": units / shards, "readers": listed}
    was, becomes = (f"{index}{PARTITION_KEY}  {each}" for each in (first.pk, pk))
    return Mend(was, becomes, _way(entity, pattern=pattern), "by_day" if by_day else "by_shard", figures)


def _day_of(pattern: Pattern) -> str:
    """The day that a read names as its sort key, such as ``<tomorrow>``."""
    is_one = pattern.sk[:1] in (("=",), ("begins_with",)) and literal(pattern.sk[1]) != pattern.sk[1]
    return pattern.sk[1] if is_one else ""


def _large(now: Evaluation, place: Place) -> Finding | None:
    """Items that a write pays much for: a list that grows, a few bytes over a unit, more than an item may have."""
    entity, size = place.entity, place.mean
    lists = [name for name, spec in entity.attributes if spec.startswith("list ")]
    written = any(each.entity == entity.name for pattern in now.model.patterns for each in pattern.writes)
    beyond, more, units = size > LARGEST, size % WRITE_BYTES, ceil(size / WRITE_BYTES)
    if not beyond and not (written and size > WRITE_BYTES and (lists or more < WRITE_BYTES / 4)):
        return None
    name = f"{'An' if entity.name[0] in 'AEIOU' else 'A'} {entity.name}"
    less = "one write unit takes" if units == 2 else f"{units - 1:,} write units take"
    figures: dict[str, object] = {"a_name": name, "size": size, "more": more, "less": less, "units": units}
    part, mend = 0, NONE
    if lists:
        number, each = map(int, entity.spec(lists[0])[1:])
        part, mend = number * each, _list_apart(now.model, entity, lists[0]) if entity.key[1] else NONE
        figures |= {"attribute": lists[0], "number": number, "each": each}
    elif heavy := _heaviest(now.model, entity):
        part, mend = int(entity.spec(heavy)[1]) + len(heavy), _without(entity, heavy)
        figures |= {"heavy": heavy, "rest": size - part}
    kind, limit = ("too-large", LARGEST) if beyond else ("list" if lists else "size", WRITE_BYTES)
    bar = Bar("write", size - part, part, f"Bytes of {entity.name}", f"{limit:,}", limit if limit > size / 20 else 0)
    return Finding(f"size:{entity.name}", kind, BREAKS if beyond else OVERPAYS, figures, mend, bar)


def _heaviest(model: Model, entity: Entity) -> str:
    """The largest text that a parent has, too, and that no key, filter or projection needs."""
    parents = {spec.split()[1] for _, spec in entity.attributes if spec.startswith("of ")}
    above = {name for each in model.entities if each.name in parents for name, _ in each.attributes}
    needed = {name for _, pair in entity.keys for name in NAMES.findall("".join(pair))}
    for pattern in model.patterns:
        needed |= {name for name, _, _ in pattern.terms} | {*pattern.returns}
        needed |= {name for each in pattern.writes for name, _ in (*(each.before or ()), *(each.after or ()))}
    texts = [(int(spec.split()[1]), name) for name, spec in entity.attributes if spec.startswith("text ")]
    return max((each for each in texts if each[1] in above - needed), default=(0, ""))[1]


def _without(entity: Entity, attribute: str) -> Mend:
    """Leave an attribute out of an entity."""
    names = [name for name, _ in entity.attributes]
    around = names[max(names.index(attribute) - 2, 0) : names.index(attribute) + 2]
    was, becomes = (f"{entity.name}  ... {', '.join(n for n in around if n != out)} ..." for out in ("", attribute))
    way = _way(lambda each: _lacks(each, attribute) if each.name == entity.name else each)
    return Mend(was, becomes, way, "without")


def _lacks(entity: Entity, attribute: str) -> Entity:
    return replace(entity, attributes=tuple(pair for pair in entity.attributes if pair[0] != attribute))


def _list_apart(model: Model, entity: Entity, attribute: str) -> Mend:
    """Make each value of a list an item of its own, in the same partition."""
    number, size = map(int, entity.spec(attribute)[1:])
    taken = [each.name for each in model.entities]
    name = next(
        name for each in ("", "Item", *range(2, 14)) if (name := f"{attribute.removesuffix('s')}{each}") not in taken
    )
    pk = entity.key[0]
    own = [*((each, f"of {entity.name}") for each in NAMES.findall(pk)), (f"{name}Id", "id 8"), (name, f"text {size}")]
    sk = f"{name.upper()}#<{name}Id>"
    made = Entity(name, entity.count * number, tuple(own), (("", (pk, sk)),), f"{number} a {entity.name}")

    def write(each: Change) -> Change:
        touches = each.entity == entity.name and each.before and attribute in dict(each.before)
        return Change(name, None, ()) if touches else each

    def pattern(each: Pattern) -> Pattern:
        if each.operation == "Get" and each.pk == pk and attribute in (each.returns or (attribute,)):
            return replace(each, operation="Query", sk=(), returns=())
        return replace(each, writes=tuple(map(write, each.writes)))

    def way(model: Model) -> Model:
        rows = [(e,) if e.name != entity.name else (_lacks(e, attribute), made) for e in model.entities]
        entities = tuple(each for row in rows for each in row)
        return replace(model, entities=entities, patterns=tuple(map(pattern, model.patterns)))

    return Mend(f"{entity.name}  {attribute}, a list of {number:,}", f"{name}  PK {pk}, SK {sk}", way, "apart")


def _unread(now: Evaluation, index: Index) -> Finding | None:
    """An index that nobody reads, entries of one, or attributes that are copied for nobody."""
    readers = [each for each in now.model.patterns if each.reads and each.index == index.name]
    places = [place for place in now.sample.of(index.name) if place.items]
    if not places:
        return None
    total = sum(place.entity.count * place.part for place in places)
    if not readers:
        mend = Mend(f"{index.name}  {places[0].pk}", "no index", _no_index(index.name), "remove")
        return Finding(f"index:{index.name}", "index", OVERPAYS, {"index": index.name, "total": total}, mend)
    asked = [matcher(now.label(each)) for each in readers]
    lost = sum(
        sum(not any(shape.fullmatch(pk) for shape in asked) for pk in place.pks) * place.entity.count / place.made
        for place in places
    )
    needed = {name for each in readers for name in (*each.returns, *(name for name, _, _ in each.terms))}
    part = lost / total
    slim = all(each.returns for each in readers) and (index.copies is None or needed < {*index.copies})
    only = index.only or (_value_asked(places[0], readers) if len(places) == 1 and part >= UNREAD else None)
    changed = replace(index, only=only, copies=tuple(sorted(needed)) if slim else index.copies)
    mend = NONE
    if changed != index:
        was, becomes = (f"{index.name}  {_says(each)}" for each in (index, changed))
        mend = Mend(was, becomes, _way(index=lambda each: changed if each.name == index.name else each), "narrow")
    elif part < UNREAD:
        return None
    figures = {"index": index.name, "total": total, "part": part, "unread": lost, "needed": ", ".join(sorted(needed))}
    bar = Bar("copies", total - lost, lost, f"read: {total - lost:,.0f}", f"never read: {lost:,.0f}")
    kind = "unread" if part >= UNREAD else "slim"
    return Finding(f"unread:{index.name}", kind, OVERPAYS, figures, mend, bar if kind == "unread" else None)


def _value_asked(place: Place, readers: Sequence[Pattern]) -> tuple[str, str] | None:
    """The attribute and the one value of it that all readers' partition keys name."""
    for name in NAMES.findall(place.pk):
        values = {
            value
            for value in place.entity.spec(name)[1:]
            for reader in readers
            if matcher(place.pk.replace(f"<{name}>", value)).fullmatch(reader.pk)
        }
        if len(values) == 1:
            return name, values.pop()
    return None


def _says(index: Index) -> str:
    which = f"while {index.only[0]} = {index.only[1]}" if index.only else "every item with its key"
    return f"{which}; {'all attributes' if index.copies is None else ', '.join(index.copies) or 'keys only'}"


def _no_index(name: str) -> Way:
    return _way(
        lambda each: replace(each, keys=tuple(pair for pair in each.keys if pair[0] != name)),
        lambda each: None if each.name == name else each,
    )


def one_place(number: float) -> str:
    return f"{number:,.1f}".removesuffix(".0")


def few(number: float) -> str:
    """A number of items, with one decimal place below ten."""
    return f"{number:,.0f}" if number >= 10 else one_place(number)


def _units(number: float) -> str:
    return f"{one_place(number)} {'unit' if number == 1 else 'units'}"


def _filter(now: Evaluation, pattern: Pattern) -> Finding | None:
    """A filter that drops items after they were paid for."""
    if not pattern.terms or pattern.operation == "Scan" or not now.answered(pattern):
        return None
    came = now.read(pattern, now.model.size)
    if (
        not came.items
        or units_read(ceil(came.size * came.kept / came.items), consistent=pattern.consistent) >= came.units
    ):
        return None
    kept, items, dropped = map(few, (came.kept, came.items, came.items - came.kept))
    figures = {"name": pattern.name, "items": items, "dropped": dropped, "kept": kept}
    bar = Bar("band", came.kept, came.items - came.kept, f"{kept} returned", f"{items} read")
    mend = _since(now, pattern) or _sparse(now, pattern) or NONE
    figures |= {"bytes": f"{came.size:,.0f}", "units": _units(came.units)}
    return Finding(f"filter:{pattern.at}", "filter", OVERPAYS, figures, mend, bar)


def _since(now: Evaluation, pattern: Pattern) -> Mend | None:
    """Begin at a day, if the filter keeps what still runs, and the sort key begins with its first day."""
    name, operator, value = pattern.terms[0]
    for place in (each.place for each in now.met(pattern) if each.lie):
        words = place.entity.spec(name)
        until = place.entity.spec(words[1]) if words[:1] == ["while"] else []
        ends = operator == "=" and until[:1] == ["after"] and words[2] == value
        if not ends or pattern.sk[:1] != ("begins_with",):
            continue
        if place.sk.startswith(f"{pattern.sk[1]}<{until[1]}>"):
            since = f"{pattern.sk[1]}<today-{3 * int(until[2])}>"
            changed = replace(pattern, sk=("between", since, f"{pattern.sk[1]}~"))
            came = now.read(changed, now.model.size)
            figures = {"days": until[2], "now": few(came.items), "now_units": _units(came.units)}
            was, becomes = (key_text(each).partition(", ")[2] for each in (pattern, changed))
            return Mend(was, becomes, _instead(changed), "since", figures)
    return None


def _instead(other: Pattern) -> Way:
    return _way(pattern=lambda each: other if each.at == other.at else each)


def _sparse(now: Evaluation, pattern: Pattern) -> Mend | None:
    """An index of the items that the filter keeps, in the same order; of an attribute with many values, one in whose
    partition key it is."""
    name, operator, value = pattern.terms[0]
    met = next((each for each in now.met(pattern) if each.lie), None)
    if operator != "=" or met is None or len(met.place.entity.spec(name)) < 2:
        return None
    place, few = met.place, met.place.entity.spec(name)[0] in FEW
    copies = (*pattern.returns, *(each for each, _, _ in pattern.terms[1:] if each not in pattern.returns))
    index = Index(_free(now.model), (name, value) if few else None, copies if pattern.returns else None)
    pk, asked = (each if few else f"{each}#{of}" for each, of in ((place.pk, f"<{name}>"), (pattern.pk, value)))
    changed = replace(pattern, index=index.name, pk=asked, terms=pattern.terms[1:], consistent=False)
    way = _added(now, index, place.entity, (pk, place.sk), changed)
    becomes = f"{index.name}  {_says(index)}" if few else f"{index.name}{PARTITION_KEY}  {pk}"
    return way and Mend(f"{pattern.index or 'Table'}, then a filter", becomes, way, "sparse" if few else "keyed")


def _free(model: Model) -> str:
    """A name for a new index."""
    taken = {each.name for each in model.indexes}
    return next(name for number in range(1, 7) if (name := f"GSI{number}") not in taken)


def _added(now: Evaluation, index: Index, entity: Entity, key: tuple[str, str], pattern: Pattern) -> Way | None:
    """Add an index, its keys to an entity, and a pattern that reads it; None if a model has as many as it may."""
    if len(now.model.indexes) >= 5:
        return None

    def way(model: Model) -> Model:
        if index.name in [each.name for each in model.indexes]:  # another change has added one
            return model
        keyed = _way(lambda e: replace(e, keys=(*e.keys, (index.name, key))) if e.name == entity.name else e)(model)
        return _instead(pattern)(replace(keyed, indexes=(*model.indexes, index)))

    return way


def _scan(now: Evaluation, pattern: Pattern) -> Finding | None:
    """A pattern that reads the whole table, because no key answers it."""
    if not pattern.reads or (pattern.limit if pattern.operation == "Scan" else now.answered(pattern)):
        return None
    came = now.read(pattern, now.model.size)
    dollars = came.units * READ.each
    figures = {
        "name": pattern.name, "items": now.model.size, "units": _units(came.units),
        "trips": f"{came.trips:,} round {'trip' if came.trips == 1 else 'trips'}",
        "dollars": f"{dollars:,.2f}" if dollars >= 0.01 else f"{dollars:.7f}".rstrip("0"),
    }  # fmt: skip
    kind, rank = ("scan", OVERPAYS) if pattern.operation == "Scan" else ("no-key", BREAKS)
    return Finding(f"scan:{pattern.at}", kind, rank, figures, _new_index(now, pattern) or NONE)


def _new_index(now: Evaluation, pattern: Pattern) -> Mend | None:
    """An index whose partition key is what a pattern asks for, or what its filter compares."""
    asked, template, sought = NAMES.findall(pattern.pk), pattern.pk, pattern.pk
    if pattern.operation == "Scan" and pattern.terms and pattern.terms[0][1] == "=":
        asked = [pattern.terms[0][0]]
        template, sought = (f"{asked[0].upper()}#{of}" for of in (f"<{asked[0]}>", pattern.terms[0][2]))
    owner = next((e for e in now.model.entities if asked and all(e.spec(name) for name in asked)), None)
    if owner is None or not owner.key[0]:
        return None
    index = Index(_free(now.model), pattern.terms[0][::2] if sought != pattern.pk else None)
    terms = pattern.terms[1:] if sought != pattern.pk else pattern.terms
    changed = replace(pattern, operation="Query", index=index.name, pk=sought, sk=(), consistent=False, terms=terms)
    way = _added(now, index, owner, (template, owner.key[0]), changed)
    return way and Mend("no index", f"{index.name}{PARTITION_KEY}  {template}", way, "add", {"owner": owner.name})


def _endless(now: Evaluation, place: Place) -> Finding | None:
    """Collections that grow with the table, because nothing in their keys grows in number with it."""
    kinds = {place.entity.spec(name)[0] for name in NAMES.findall(place.pk)}
    count = place.entity.count * place.part
    if kinds - {"one", "while"} or now.model.index(place.index).only or count < 1000:
        return None
    number = prod(now.model.values(place.entity.name, name, now.model.size) for name in NAMES.findall(place.pk))
    largest = count * max(Counter(place.pks).values()) / len(place.pks)
    partitions = "1 partition holds" if number == 1 else f"{number:,.0f} partitions hold"
    figures = {
        "label": place.pk, "partitions": partitions, "items": count, "entity": place.entity.name, "largest": largest,
    }  # fmt: skip
    return Finding(f"endless:{place.index}:{place.entity.name}", "endless", LOOK, figures)


def _lasting(model: Model, entity: Entity) -> Finding | None:
    """Items that never expire, because a table has one TTL attribute, and theirs is another."""
    first = next((each.expires for each in model.entities if each.expires), "")
    if entity.expires in ("", first):
        return None
    figures = {"entity": entity.name, "attribute": entity.expires, "first": first}
    return Finding(f"ttl:{entity.name}", "ttl", LOOK, figures)
