"""What a model costs: generated items, what each pattern reads or writes of them, units, prices, growth, busy keys.

About 1,000 items are generated in the model's proportions, and each pattern is run on them. A larger table is
calculated from these by how many values a key template can take: a partition for each member, but two for a loan's
status. So a price needs no table, and an edit is answered at once.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html (units a partition takes)
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/GSI.html#GSI.ThroughputConsiderations (index writes)
"""

from __future__ import annotations

import operator
import random
import re
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from functools import cached_property, lru_cache
from math import ceil, prod
from typing import Any, ClassVar, NamedTuple

from features.modeller.design import NAMES, YEAR, Change, Entity, Index, Model, Pattern, is_number, keys_of
from shared.dynamodb import schema
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.capacity import TABLE, size_of, units_read, units_written
from shared.values.prices import PROVISIONED_READ, PROVISIONED_WRITE, READ, STORAGE, WRITE

READ_DOLLARS, WRITE_DOLLARS = READ.dollars, WRITE.dollars
RCU_HOUR, WCU_HOUR, GB_MONTH = PROVISIONED_READ.dollars, PROVISIONED_WRITE.dollars, STORAGE.dollars
"""Dollars of a million units, of an hour of a provisioned unit, of a month of a gigabyte."""

HOURS, GB, PAGE, BATCH, OVERHEAD, FOLLOWS = 730, 10**9, 2**20, 100, 100, 0.7
"""Hours of a month; bytes of a gigabyte and of a Query's page; keys of a batch; bytes that storing an item adds; the
load that auto scaling aims at."""

TODAY, SAMPLE, FEWEST, STATED, SEED = date(2026, 11, 27), 1_000, 4, 24, 4711
"""The day of the sample, its number of items, the fewest of an entity and of one that is in a state for a time."""

ITEM_TYPE = "Entity"
"""The attribute with an item's type."""

FEW, DAYS, EXACT = ("one", "while"), ("day", "time", "after"), (("=",), ("begins_with",))
"""Kinds of attributes: of few values, and of days; and operators of sort keys that name a value."""

SIZES = (1e3, 1e6, 1e9)
"""Numbers of items for which growth is shown."""

Made = dict[str, str | int | list[str]]
_LORUM = "the quick brown fox jumps over a lazy dog "


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """The items of an entity in the table or an index: their keys there and their bytes. ``met`` is what patterns met
    here, by what they ask: it is kept between edits."""

    entity: Entity
    index: str
    pk: str
    sk: str
    pks: Sequence[str]
    sks: Sequence[str]
    sizes: Sequence[int]
    items: Sequence[Made]
    made: int
    met: dict[Hashable, Met] = field(default_factory=dict)

    @property
    def part(self) -> float:
        """The part of the entity's items that lie here; a sparse index has fewer."""
        return len(self.items) / self.made if self.made else 0.0

    @property
    def mean(self) -> float:
        """The bytes of an item here."""
        return sum(self.sizes) / max(len(self.sizes), 1)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Generated items with their keys by entity, and where they lie; ``written`` are the units of writes, by what they
    write."""

    items: Mapping[str, Sequence[Made]]
    places: Sequence[Place]
    written: dict[Hashable, dict[tuple[str, str], float]] = field(default_factory=dict)

    def of(self, index: str) -> Iterator[Place]:
        return (place for place in self.places if place.index == index)


@dataclass(frozen=True, slots=True)
class Came:
    """What a read reads and returns: items, those that the filter keeps, bytes, units, and round trips."""

    items: float
    kept: float
    size: float
    units: float
    trips: int


def day(offset: int = 0) -> str:
    return f"{TODAY + timedelta(days=offset)}"


def literal(template: str) -> str:
    """A request's template with its days filled in: ``<tomorrow>``, ``<today-63>``."""

    def filled(found: re.Match[str]) -> str:
        return day({"today": 0, "tomorrow": 1, "yesterday": -1}[found[1]] + int(found[2] or 0))

    return re.sub(r"<(today|tomorrow|yesterday)([+-]\d{1,5})?>", filled, template)


def fill(template: str, item: Mapping[str, object]) -> str:
    """A template with an item's values; a name that the item lacks stays."""
    return NAMES.sub(lambda found: str(item.get(found[1], found[0])), template)


def matcher(template: str) -> re.Pattern[str]:
    """What matches the keys that a template makes."""
    # Each text but the last is sought once: where it comes first, the rest has the most room.
    first, *others = (re.escape(each) for each in NAMES.split(template)[::2])
    found = [f"(?>([^#]+?){each})" for each in others[:-1]] + [f"([^#]+){each}" for each in others[-1:]]
    return re.compile("".join([first, *found]))


def general(asked: str, template: str, entity: Entity, own: Sequence[str], *, begins: bool = False) -> str:
    """A key that is asked for, as its template has it: an example of an id stands for any, as ``<UserId>`` does. Values
    of attributes of the kinds in ``own`` stay. ``begins``: the key may be a beginning."""
    parts = NAMES.split(template)
    names = parts[1::2]
    parts[1::2] = [f"<{name}>" for name in names]
    for end in range(len(parts), 1 if begins else len(parts) - 1, -1):
        if found := matcher("".join(parts[:end])).fullmatch(asked):
            stays = [NAMES.search(value) or entity.spec(names[at])[0] in own for at, value in enumerate(found.groups())]
            parts[1:end:2] = [found[at + 1] if stays[at] else parts[2 * at + 1] for at in range(len(stays))]
            return "".join(parts[:end])
    return asked


class Recipe(NamedTuple):
    """What an entity's items are made of. The items of one recipe are the same in all models, and made once."""

    name: str
    attributes: tuple[tuple[str, str], ...]
    number: int
    parents: tuple[Recipe, ...]


def _recipes(entities: Sequence[Entity], size: float) -> Mapping[str, Recipe]:
    """The recipes of about 1,000 items in the entities' proportions."""
    made: dict[str, Recipe] = {}
    for entity in entities:
        specs = [spec.split() for _, spec in entity.attributes]
        fewest = [len(words) if kind == "one" else STATED for kind, *words in specs if kind in FEW]
        number = max(FEWEST, *fewest, round(entity.count * SAMPLE / size))
        above = dict.fromkeys(spec.split()[1] for _, spec in entity.attributes if spec.startswith("of "))
        made[entity.name] = Recipe(entity.name, entity.attributes, number, tuple(made[each] for each in above))
    return made


@lru_cache(maxsize=256)
def _generated(recipe: Recipe) -> Sequence[Made]:
    """An entity's items; children are spread evenly over their parents and over a year."""
    chance = random.Random(f"{SEED} {recipe.name}")  # noqa: S311  # the same items each time
    above = {each.name: _generated(each) for each in recipe.parents}
    made: list[Made] = []
    for at in range(recipe.number):
        item: Made = {}
        when = TODAY - timedelta(days=int((recipe.number - 1 - at) * YEAR / recipe.number))
        for name, spec in recipe.attributes:
            kind, *words = spec.split()
            if kind == "of":
                parents = above[words[0]]
                parent = parents[chance.randrange(len(parents)) if item else at % len(parents)]
                item[name] = parent.get(name, "".join(str(each) for each in [*parent.values()][:1]))
            else:
                item[name] = _value(kind, words, item, when, chance)
                if kind == "one" and at < len(words):  # each value is there
                    item[name] = words[at]
        made.append(item)
    return made


def _value(kind: str, words: Sequence[str], item: Made, when: date, chance: random.Random) -> str | int | list[str]:
    match kind:
        case "id":
            return "".join(chance.choices("0123456789", k=min(int(words[0]), 64)))
        case "number":
            return chance.randrange(10 ** (min(int(words[0]), 15) - 1), 10 ** min(int(words[0]), 15))
        case "text":
            return _text(int(words[0]))
        case "list":
            return _list(min(int(words[0]), 5_000), int(words[1]))
        case "day":
            return f"{when}"
        case "time":
            return f"{when}T{chance.randrange(24):02}:{chance.randrange(60):02}:{chance.randrange(60):02}Z"
        case "after":
            return f"{date.fromisoformat(str(item[words[0]])) + timedelta(days=int(words[1]))}"
        case "while":
            return words[1] if str(item[words[0]]) > day() else words[2]
    return chance.choice([*words])


@lru_cache(maxsize=256)
def _list(number: int, length: int) -> list[str]:
    """A list of texts, which all items share."""
    return [_text(length)] * number


@lru_cache(maxsize=256)
def _text(length: int) -> str:
    return (_LORUM * (length // len(_LORUM) + 1))[:length]


@lru_cache(maxsize=48)
def sample(entities: tuple[Entity, ...], indexes: tuple[Index, ...], size: float) -> Sample:
    """The generated items with their keys in the table and the indexes."""
    recipes = _recipes(entities, size)
    placed = {each.name: _placed(each, recipes[each.name], indexes) for each in entities}
    items = {name: made for name, (made, _) in placed.items()}
    return Sample(items, [place for _, places in placed.values() for place in places])


@lru_cache(maxsize=256)
def _placed(entity: Entity, recipe: Recipe, indexes: tuple[Index, ...]) -> tuple[Sequence[Made], Sequence[Place]]:
    """An entity's items with their keys, and their places in the table and in each index."""
    known = {each.name: each for each in indexes}
    items = [keys_and(entity, known, item) for item in _generated(recipe)]
    heavy = [weights(each) for each in items]
    places = []
    for index, (pk, sk) in entity.keys:
        names = keys_of(index)
        here = [at for at, each in enumerate(items) if names[0] in each]
        row = known.get(index, Index(index))
        sizes = [bytes_in(row, heavy[at]) for at in here]
        pks, sks = ([str(items[at].get(name, "")) for at in here] for name in names)
        places.append(Place(entity, index, pk, sk, pks, sks, sizes, [items[at] for at in here], len(items)))
    return items, places


def keys_and(entity: Entity, indexes: Mapping[str, Index], item: Mapping[str, object]) -> Made:
    """An item with its type, and with its keys in the table and in the indexes that it belongs to."""
    whole: Made = {**item, ITEM_TYPE: entity.name}  # type: ignore[dict-item]  # values of a sample's item
    for index, pair in entity.keys:
        only = indexes[index].only if index in indexes else None
        if only and item.get(only[0], only[1]) != only[1]:
            continue
        whole |= {name: fill(part, item) for name, part in zip(keys_of(index), pair, strict=True) if part}
    return whole


def weights(item: Made) -> dict[str, int]:
    """The bytes of each attribute, its name included."""
    return {name: len(name) + _weight(content) for name, content in item.items()}


def _weight(content: str | int | list[str]) -> int:
    if isinstance(content, list):  # its texts are alike, but perhaps the first
        return 3 + _weight(content[0]) + _weight(content[-1]) * (len(content) - 1) + len(content)
    if isinstance(content, str) and content.isascii():
        return len(content)
    return size_of(marshal_item({"": content}))


def _as_long(value: str, as_: object) -> str | int | list[str]:
    """A stated value, as long as the generated text that it replaces; the first of a list."""
    if isinstance(as_, list):
        return [value.ljust(len(as_[0])), *as_[1:]]
    return int(value) if isinstance(as_, int) and is_number(value) else value


def bytes_in(index: Index, heavy: Mapping[str, int]) -> int:
    """The bytes of an item, or of its copy in an index."""
    if index.copies is None:
        return sum(heavy.values())
    names = {*index.copies, *keys_of(""), *keys_of(index.name)}
    return sum(size for name, size in heavy.items() if name in names)


def within(sk: tuple[str, ...]) -> tuple[str, str, re.Pattern[str] | None]:
    """The bounds of a condition on the sort key, and a pattern if it names attributes."""
    if not sk:
        return "", "\uffff", None
    compares, first, *rest = (literal(each) for each in sk)
    if NAMES.search(first) and compares in ("=", "begins_with"):
        whole = matcher(first)
        return "", "\uffff", re.compile(whole.pattern + (".*" if compares == "begins_with" else ""))
    last = "".join(f"{NAMES.split(each)[0]}\uffff" if NAMES.search(each) else each for each in rest or (first,))
    first = NAMES.split(first)[0]
    low, high = {
        "=": (first, first), "begins_with": (first, f"{first}\uffff"), "between": (first, last),
        ">": (f"{first}\0", "\uffff"), ">=": (first, "\uffff"), "<": ("", last), "<=": ("", last),
    }[compares]  # fmt: skip
    return low, high, None


_COMPARE: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "begins_with": lambda one, other: str(one).startswith(str(other)),
    "contains": lambda one, other: other in one if isinstance(one, list) else str(other) in str(one),
}  # fmt: skip


def keeps(pattern: Pattern, item: Mapping[str, object]) -> bool:
    """Whether a filter keeps an item."""
    for name, compares, wanted in pattern.terms:
        content, value = item.get(name), literal(wanted)
        typed = int(value) if isinstance(content, int) and is_number(value) else value
        if content is None or type(content) is not type(typed) or not _COMPARE[compares](content, typed):
            return False
    return True


class Met(NamedTuple):
    """What a read meets of a place of the sample: the key that it asks for, numbers of items there, their bytes, those
    that are kept, and whether a key of this place answers it."""

    place: Place
    pk: str
    sk: tuple[str, ...]
    lie: Sequence[int]
    size: int
    kept: Sequence[int]
    answers: bool

    def part(self, model: Model, n: float) -> float:
        """The part of the met items that one request reads in a table of ``n`` items. A range that begins or ends at
        some value reads half."""
        exact = self.sk[:1] in EXACT
        named = {*NAMES.findall(self.pk), *NAMES.findall(" ".join(self.sk) if exact else "")}
        entity = self.place.entity
        apart = prod(model.values(entity.name, name, n) for name in named if entity.spec(name))
        return (1.0 if exact or not NAMES.search(" ".join(self.sk)) else 0.5) / apart


def _meeting(pattern: Pattern, place: Place) -> Met:
    for asked in dict.fromkeys(_key(pattern, place, own) for own in ((*FEW, *DAYS), FEW)):
        met = _met(pattern, place, *asked)
        if met.lie:  # else a day of which the sample has nothing stands for any
            break
    return met


def _key(pattern: Pattern, place: Place, own: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The partition key and the sort key's condition that a read asks for, as the templates of a place have them."""
    pk, sk = general(literal(pattern.pk), place.pk, place.entity, own), tuple(map(literal, pattern.sk))
    if sk[:1] in EXACT:
        sk = (sk[0], general(sk[1], place.sk, place.entity, own, begins=sk[0] == "begins_with"))
    return pk, sk


def _met(pattern: Pattern, place: Place, pk: str, sk: tuple[str, ...]) -> Met:
    key, (low, high, shape) = matcher(pk), within(sk)
    lie = [
        at
        for at, (one, other) in enumerate(zip(place.pks, place.sks, strict=True))
        if pattern.operation == "Scan"
        or (low <= other <= high and key.fullmatch(one) and (shape is None or shape.fullmatch(other)))
    ]
    answers = bool(lie) or (sk[:1] not in ((), *EXACT) and any(map(key.fullmatch, place.pks)))
    kept = [at for at in lie if keeps(pattern, place.items[at])]
    return Met(place, pk, sk, lie, sum(place.sizes[at] for at in lie), kept, answers)


class Evaluation:
    """A model, evaluated. What each pattern reads of the sample is found once; larger tables are calculated from it."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sample = sample(model.entities, model.indexes, model.size)

    def met(self, pattern: Pattern) -> list[Met]:
        """What a read meets in the sample, by place."""
        asked = (pattern.operation == "Scan", pattern.pk, pattern.sk, pattern.terms)
        found = []
        for place in self.sample.of(pattern.index):
            if asked not in place.met:
                place.met[asked] = _meeting(pattern, place)
            found.append(place.met[asked])
        return found

    def answered(self, pattern: Pattern) -> bool:
        """Whether a key template answers a read, or that of an entity which couldn't be read may."""
        return pattern.operation == "Scan" or self.model.partial or any(each.answers for each in self.met(pattern))

    def read(self, pattern: Pattern, n: float) -> Came:
        """What a pattern reads in a table of ``n`` items: all that match its key; the filter comes after the bill."""
        model, found, kept, size = self.model, 0.0, 0.0, 0.0
        if not self.answered(pattern):
            pattern = replace(pattern, operation="Scan", index="", pk="", sk=(), limit=0)
        for each in self.met(pattern):
            if each.lie:
                entity = each.place.entity
                grown = entity.count * n / model.size / each.place.made * each.part(model, n)
                found, size = found + len(each.lie) * grown, size + each.size * grown
                kept += len(each.kept) * grown
        single = pattern.operation == "Get"
        most = 1.0 if single else float(pattern.limit or "inf")
        if found and (single or found > most):
            found, kept, size = most, kept * most / found, size * most / found
        trips = 1 if single else max(1, ceil(size / PAGE))
        units, times = units_read(ceil(size), consistent=pattern.consistent), pattern.times
        trips = ceil(times / BATCH) if single else trips * times
        return Came(found * times, kept * times, size * times, units * times, trips)

    def written(self, pattern: Pattern) -> dict[tuple[str, str], float]:
        """The units of a pattern's writes by place and partition: ``("", "BOOK:<Isbn>")``, ``("GSI1", ...)``."""
        asked = (pattern.operation, pattern.writes, pattern.times)
        if asked in self.sample.written:
            return self.sample.written[asked]
        units = self.sample.written[asked] = {}
        for change in pattern.writes:
            for place, each in self._paid(change, transactional=pattern.operation == "Transaction"):
                units[place] = units.get(place, 0.0) + each * pattern.times
        return units

    def _paid(self, change: Change, *, transactional: bool) -> Iterator[tuple[tuple[str, str], float]]:
        """The units of a write in the table and in each index; in both partitions of an index if it moves an entry."""
        before, after = (image and marshal_item(image) for image in self.images(change))
        for index, (pk, sk) in self.model.entity(change.entity).keys:
            names = keys_of(index)
            ours = schema.Index(index, names[0], names[1] if sk else None, self.model.index(index).copies)
            was, now = (fill(pk, dict(stated or ())) for stated in (change.before, change.after))
            moves = index and was != now and before and after
            pairs = [(was, before, None), (now, None, after)] if moves else [(now if after else was, before, after)]
            for label, one, other in pairs:
                units = units_written(one, other, transactional=transactional, indexes=[ours] if index else ())
                if each := units.get(index or TABLE):
                    yield (index, label), each

    def writes(self, pattern: Pattern) -> tuple[float, float]:
        """The units of a pattern's writes in the table, and in indexes."""
        table, indexes = 0.0, 0.0
        for (index, _), units in self.written(pattern).items():
            table, indexes = (table, indexes + units) if index else (table + units, indexes)
        return table, indexes

    def images(self, write: Change) -> tuple[Made | None, Made | None]:
        """The item of a write before and after it: one of the sample that was so before it, with the stated values."""
        entity, was = self.model.entity(write.entity), dict(write.before or ()).items()
        mine, indexes = self.sample.items[entity.name], {each.name: each for each in self.model.indexes}
        like = next((each for each in mine if was <= each.items()), mine[0])

        def image(stated: Sequence[tuple[str, str]]) -> Made:
            own = {name: like[name] for name, _ in entity.attributes}
            return keys_and(entity, indexes, own | {name: _as_long(value, own[name]) for name, value in stated})

        before, after = (None if stated is None else image(stated) for stated in (write.before, write.after))
        return before, after

    @cached_property
    def loads(self) -> dict[tuple[str, str], tuple[float, float]]:
        """The read and write units a second that meet the busiest partition of each kind at the peak."""
        met: dict[tuple[str, str], list[float]] = {}
        for pattern in self.model.patterns:
            read = {}
            if pattern.pk and self.answered(pattern):
                apart = 1 if pattern.operation == "Get" else pattern.times
                read = {(pattern.index, self.label(pattern)): self.read(pattern, self.model.size).units / apart}
            for kind, units in enumerate((read, self.written(pattern))):
                for at, each in units.items():
                    part = self._busiest(at[1], pattern)
                    met.setdefault(at, [0.0, 0.0])[kind] += pattern.rate * each * part * self.model.peak
        return {at: (reads, writes) for at, (reads, writes) in met.items()}

    def label(self, pattern: Pattern) -> str:
        """The partitions that a read asks for; where it names an id or a day, as the key's template has it."""
        place = next((each.place for each in self.met(pattern) if each.answers), None)
        return general(literal(pattern.pk), place.pk, place.entity, FEW) if place else pattern.pk

    def _busiest(self, label: str, pattern: Pattern) -> float:
        """The part of a pattern's requests that meet the busiest partition: all ask for the same day at a time."""
        specs = [self.model.spec(name) for name in NAMES.findall(label)]
        part = prod(1 / len(set(words)) for what, *words in filter(None, specs) if what == "one")
        own = any(not each or each[0] in ("id", "of", "text", "number", "time") for each in specs)
        return part * (pattern.busiest if own else 1)

    def bill(self, n: float) -> Bill:
        """The month's amounts and dollars for a table of ``n`` items."""
        told = dict.fromkeys(Bill.PARTS, 0.0)
        for pattern in self.model.patterns:
            if pattern.reads:
                told["reads"] += pattern.rate * self.read(pattern, n).units
            for part, units in zip(("writes", "index writes"), self.writes(pattern), strict=True):
                told[part] += pattern.rate * units
        for place in self.sample.places:
            held = (sum(place.sizes) + OVERHEAD * len(place.sizes)) / place.made
            part = "index storage" if place.index else "storage"
            told[part] += held * place.entity.count / GB * n / self.model.size
        return Bill(told, self.model.peak)

    @cached_property
    def now(self) -> Bill:
        """The bill of the table as it is."""
        return self.bill(self.model.size)

    def dollars(self, pattern: Pattern) -> float:
        """A month of a pattern's requests, on demand."""
        reads = self.read(pattern, self.model.size).units * READ_DOLLARS if pattern.reads else 0.0
        writes = sum(self.writes(pattern)) * WRITE_DOLLARS
        return pattern.rate * HOURS * 3600 * (reads + writes) / 1_000_000


@dataclass(frozen=True, slots=True)
class Bill:
    """The month's amounts by part: units a second, or gigabytes."""

    PARTS: ClassVar = ("reads", "writes", "index writes", "storage", "index storage")

    amounts: Mapping[str, float]
    peak: float

    def priced(self, part: str) -> tuple[float, float, float]:
        """The dollars of a part: on demand, provisioned that follows the load, provisioned for the peak."""
        amount = self.amounts[part]
        if "storage" in part:
            dollars = round(amount * GB_MONTH, 2)
            return dollars, dollars, dollars
        unit, hour = (READ_DOLLARS, RCU_HOUR) if part == "reads" else (WRITE_DOLLARS, WCU_HOUR)
        on_demand = amount * HOURS * 3600 * unit / 1_000_000
        follows, peak = amount / FOLLOWS * HOURS * hour, amount * self.peak * HOURS * hour
        return round(on_demand, 2), round(follows, 2), round(peak, 2)

    def total(self, mode: int = 0) -> float:
        """The dollars of a month: on demand (0), provisioned that follows (1), provisioned for the peak (2)."""
        return round(sum(self.priced(part)[mode] for part in self.PARTS), 2)


@lru_cache(maxsize=32)
def evaluated(model: Model) -> Evaluation:
    """A model's evaluation, which is made once."""
    return Evaluation(model)
