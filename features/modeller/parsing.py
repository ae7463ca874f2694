"""Reading a model from JSON, with one sentence for each field that can't be read.

All values are short texts as the page's fields show them, so that a form, a link and a file hold the same model. What
can't be read is left out, and the rest is used. ``entities.2.PK`` names the partition key of the third entity.
"""

from __future__ import annotations

import json
import re
import tomllib
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from math import prod
from pathlib import Path
from typing import Any, TypeVar

from features.modeller import requests
from features.modeller.design import BUSIEST, NAMES, READS, WRITES, Change, Entity, Index, Model, Pattern, keys_of
from shared.dynamodb.schema import KEYS, SORT_KEY

MOST = {"entities": 12, "indexes": 5, "patterns": 20}
MOST_ATTRIBUTES, LONGEST, MOST_OF_ALL, MOST_BYTES, MOST_DAYS = 20, 60_000, 1e15, 4_000_000, 36_500
"""The most attributes of an entity, characters of a model's JSON, number anywhere, bytes of an attribute (ten times
those of an item), and days that one day is after another."""

SECONDS = {"": 1, "second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800, "month": 2_628_000}
_WORDS = {None: 1, "thousand": 10**3, "million": 10**6, "billion": 10**9}
FIELDS: Mapping[str, Mapping[str, str]] = tomllib.loads(
    Path(__file__).with_name("fields.toml").read_text(encoding="utf-8")
)
_QUOTED_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{}]', re.DOTALL)


@dataclass(slots=True)
class Read:
    """A model as it was read: its JSON, the parts of it that can be used, and a sentence for each field that can't."""

    document: dict[str, Any]
    model: Model
    faults: dict[str, str] = field(default_factory=dict)


class Unreadable(Exception):  # it is no error, but a sentence for the field
    """A field's text can't be used, for the reason that is its text."""


T = TypeVar("T")
Made = TypeVar("Made", Entity, Index, Pattern)


def read(document: Any) -> Read:
    """Read a model from its JSON document."""
    given = _plain(document) if isinstance(document, dict) else {}
    found = Read(given, Model("", (), (), ()))
    top = _Row({"peak": 1, **given}, "", found.faults)
    name = top.use("name", _text("title")) or "A table"
    peak = min(max(top.use("peak", number) or 1.0, 1.0), 1000.0)
    indexes = _each(found, "indexes", lambda row, _: _index(row))
    names, sorts = [each.name for each in indexes], keys_in(given)
    entities = _each(found, "entities", lambda row, above: _entity(row, above, names, sorts))
    partial = any(each.startswith("entities.") for each in found.faults)
    whole = Model(name, tuple(entities), tuple(indexes), (), peak, partial)
    found.model = replace(whole, patterns=tuple(_each(found, "patterns", lambda row, _: _pattern(row, whole))))
    return found


def from_text(text: str) -> Read:
    """Read a model from the text of its JSON. Of a text that ends too early, its whole parts are read."""
    if len(text) > LONGEST:
        found = read({})
        found.faults["model"] = f"This model is too long: use {LONGEST:,} characters at most."
        return found
    try:
        document = _loaded(text)
        why = "" if isinstance(document, dict) else "This is no model: its JSON is no object."
    except (ValueError, RecursionError):
        document = _salvaged(text)
        entities = document.get("entities")
        count = len(entities) if isinstance(entities, list) else 0
        end = f"its first {count} entities are shown" if count else "nothing of it can be shown"
        why = f"This link or file ends too early or isn't a model; {end}."
    found = read(document)
    if why:
        found.faults["model"] = why
    return found


def packed(document: Mapping[str, Any]) -> str:
    """A model's JSON as a link and the page's form hold it, a quarter as long."""
    deflate = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    made = deflate.compress(json.dumps(document, ensure_ascii=False).encode()) + deflate.flush()
    return urlsafe_b64encode(made).decode().rstrip("=")


def from_link(text: str) -> Read:
    """Read a model from a link, of which only the beginning may be there."""
    whole, inflate = b"", zlib.decompressobj(-zlib.MAX_WBITS)
    try:
        sent = urlsafe_b64decode(text[: len(text) - (len(text) % 4 == 1)] + "==")
        for at in range(0, len(sent), 64):
            whole += inflate.decompress(sent[at : at + 64])
            if len(whole) > 4 * LONGEST:  # it was made to grow without end
                break
    except (ValueError, zlib.error):
        pass  # what came of it is read
    return from_text(whole.decode(errors="ignore"))


def _loaded(text: str) -> Any:
    """JSON, with a sign in the place of half a character. Raises ValueError, RecursionError."""
    return json.loads(json.dumps(json.loads(text), ensure_ascii=False).encode(errors="replace"))


def _salvaged(text: str) -> dict[str, Any]:
    """The longest beginning of a JSON text that becomes an object by closing what is open."""
    ends, opened = deque[tuple[int, str]](maxlen=50), ""
    for found in _QUOTED_OR_BRACKET.finditer(text):
        if found[0] in ("[", "{"):
            opened = ("]" if found[0] == "[" else "}") + opened
        elif found[0] in ("]", "}"):
            opened = opened[1:]
            ends.append((found.end(), opened))
    for end, still in reversed(ends):
        try:
            document = _loaded(text[:end] + still)
        except (ValueError, RecursionError):
            continue
        if isinstance(document, dict):
            return document
    return {}


def _plain(document: Mapping[str, Any]) -> dict[str, Any]:
    """The parts of a model's JSON, without what no field shows: an object in the place of a text."""
    plain = {name: document[name] for name in ("name", "peak") if _is_text(document.get(name))}
    return plain | {kind: document[kind] for kind in MOST if kind in document}


def _is_text(value: object) -> bool:
    return isinstance(value, str | float) or (isinstance(value, int) and abs(value) <= MOST_OF_ALL)


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a row that are as its page has them: texts and numbers, attributes by name, a list of writes."""
    plain: dict[str, Any] = {name: value for name, value in row.items() if _is_text(value)}
    attributes, writes = (plain.pop(name, row.get(name)) for name in ("attributes", "writes"))
    if isinstance(attributes, dict):
        plain["attributes"] = {name: str(spec) if _is_text(spec) else "" for name, spec in attributes.items()}
    if isinstance(writes, list):
        plain["writes"] = [each for each in writes if isinstance(each, str)]
    return plain


def _each(found: Read, kind: str, make: Callable[[_Row, Sequence[Made]], Made | None]) -> list[Made]:
    """What the rows of a kind make, each given those above it. Names of patterns may be alike."""
    given = found.document.get(kind, [])
    rows = [row for row in given if isinstance(row, dict)] if isinstance(given, list) else []
    if not isinstance(given, list) or len(rows) < len(given):
        found.faults[kind] = f"The {kind} must be a list of objects."
    if len(rows) > MOST[kind]:
        found.faults[kind] = f"A model here has at most {MOST[kind]} {kind}; the first {MOST[kind]} are shown."
    found.document[kind] = [_fields(row) for row in rows[: MOST[kind]]]
    made: list[Made] = []
    for at, each in enumerate(found.document[kind]):
        row = _Row(each, f"{kind}.{at}.", found.faults, at)
        one = make(row, made)
        if one and kind != "patterns" and one.name in [other.name for other in made]:
            row.fault("name", f"{one.name} is there twice: give it another name.")
        elif one:
            made.append(one)
    return made


@dataclass(slots=True)
class _Row:
    """A row's fields as texts. What can't be read adds its sentence to the faults."""

    row: Mapping[str, Any]
    place: str
    faults: dict[str, str]
    at: int = 0
    wrong: bool = False

    def text(self, name: str) -> str:
        value = self.row.get(name, "")
        return " ".join(value.split()) if isinstance(value, str) else f"{value:.15g}" if _is_text(value) else ""

    def use(self, name: str, make: Callable[[str], T], default: str = "") -> T | None:
        try:
            return make(self.text(name) or default)
        except Unreadable as why:
            self.fault(name, str(why))
            return None

    def fault(self, name: str, why: str) -> None:
        self.faults.setdefault(f"{self.place}{name}", why)
        self.wrong = True


def taken(kind: str, text: str) -> re.Match[str]:
    """The parts of a field's text. Raises Unreadable."""
    if not (found := re.fullmatch(FIELDS[kind]["takes"], text)):
        raise Unreadable(FIELDS[kind]["says"])
    return found


def _text(kind: str) -> Callable[[str], str]:
    return lambda text: taken(kind, text)[0]


def _amount(kind: str, text: str) -> tuple[float, str]:
    """A number and the word after it, such as ``30 a second`` or ``40 a Member``. Raises Unreadable."""
    found = taken(kind, text)
    amount = float(found[1].replace(",", "")) * _WORDS[found[2]]
    if amount > MOST_OF_ALL:
        raise Unreadable(FIELDS[kind]["says"])
    return amount, found[3] or ""


def number(text: str) -> float:
    """A number such as ``40``, ``1,000`` or ``20 million``. Raises Unreadable."""
    return _amount("number", text)[0]


def rate(text: str) -> float:
    """A rate such as ``30 a second`` or ``1 a day``, in requests a second. Raises Unreadable."""
    amount, each = _amount("rate", text)
    return amount / SECONDS[each]


def _index(row: _Row) -> Index | None:
    def only(text: str) -> tuple[str, str] | None:
        found = taken("while", text) if text else None
        return (found[1], found[2]) if found else None

    def copies(text: str) -> tuple[str, ...] | None:
        return None if text in ("", "all") else () if text == "keys" else names_of(text)

    name = row.use("name", _text("index"), f"GSI{row.at + 1}")
    return Index(name, row.use("while", only), row.use("copies", copies)) if name else None


def names_of(text: str) -> tuple[str, ...]:
    """Names between commas. Raises Unreadable."""
    return tuple(taken("name", each.strip())[0] for each in text.split(",") if each.strip())


def keys_in(document: Mapping[str, Any]) -> set[str]:
    """The names of the fields that a model's entities have filled in, keys among them."""
    rows = document.get("entities")
    fields = [row.items() for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
    return {name for name, value in chain(*fields) if str(value).strip()}


def _entity(row: _Row, above: Sequence[Entity], indexes: Sequence[str], sorts: Container[str]) -> Entity | None:
    name = row.use("name", _text("name"))
    if not name:
        return None
    attributes = _attributes(row)
    keys = _keys(row, name, attributes, indexes, sorts)
    expires = row.text("expires")
    if expires and expires not in attributes:
        row.fault("expires", f"{name} has no attribute {expires}.")
        expires = ""
    said, counts = row.text("items") or "1000", {"": 1.0, **{each.name: each.count for each in above}}
    items = row.use("items", lambda _: _amount("items", said))
    if not items or items[1] not in counts:
        row.fault("items", FIELDS["items"]["says"])
        return None
    parents = [spec.removeprefix("of ") for spec in attributes.values() if spec.startswith("of ")]
    if lost := [each for each in parents if each not in counts]:
        row.fault("attributes", f"There is no entity {lost[0]} above {name}.")
        return None
    count = min(max(items[0] * counts[items[1]], 1.0), 1e13)
    made = Entity(name, count, tuple(attributes.items()), tuple(keys.items()), said, expires)
    if "" in keys and name not in counts:
        _collide(row, made, above)
    return made


def _keys(
    row: _Row, name: str, attributes: Mapping[str, str], indexes: Sequence[str], sorts: Container[str]
) -> dict[str, tuple[str, str]]:
    """The key templates of an entity in the table, under an empty name, and in the indexes that it belongs to.
    ``sorts`` has the names of sort keys that other entities have: there, an item without one can't be."""
    keys = {}
    for index in ("", *indexes):
        row.wrong = False
        names = keys_of(index)
        pk, sk = (row.use(each, _text("template")) or "" for each in names)
        for field_of, template in zip(names, (pk, sk), strict=True):
            if missing := [each for each in NAMES.findall(template) if each not in attributes]:
                known = ", ".join(attributes) or "none yet"
                add = f"Add it to the attributes (such as {missing[0]}: id 8), or use one of them: {known}."
                row.fault(field_of, f"{name} has no attribute {missing[0]}. {add}")
            elif lists := [each for each in NAMES.findall(template) if attributes[each].startswith("list ")]:
                row.fault(field_of, f"{lists[0]} is a list, and a key is a text.")
        if pk and not sk and names[1] in sorts:
            refuses = (
                f"{index} has a sort key, so an item without one isn't in it" if index else "The table has a sort key"
            )
            row.fault(names[1], f"{refuses}: write a template, such as {name.upper()}.")
        if not pk and (sk or not index):
            row.fault(names[0], "A partition key is needed: write a template, such as USER:<Name>.")
        if pk and not row.wrong:
            keys[index] = (pk, sk)
    return keys if "" in keys else {}  # no index has an item that the table lacks


def _attributes(row: _Row) -> dict[str, str]:
    given = row.row.get("attributes", {})
    found: dict[str, str] = {}
    for name, spec in given.items() if isinstance(given, dict) else ():
        words = " ".join(str(spec).split())
        values = re.fullmatch(FIELDS["values"]["takes"], words)
        if not values or not re.fullmatch(FIELDS["name"]["takes"], name):
            row.fault("attributes", f"{name[:40]!r}: write its name and its values, such as Title: text 40.")
        elif name in KEYS:
            row.fault("attributes", f"{name} is the name of a key: give the attribute another one.")
        elif {*words} & {*"{}"}:
            row.fault("attributes", f"{name}: a value has no braces.")
        elif words.startswith(("text", "list")) and prod(map(int, words.split()[1:])) > MOST_BYTES:
            row.fault("attributes", f"{name}: use {MOST_BYTES:,} bytes at most; an item has 400 KB.")
        elif words.startswith("after") and int(words.split()[2]) > MOST_DAYS:
            row.fault("attributes", f"{name}: use {MOST_DAYS:,} days at most.")
        elif len(found) == MOST_ATTRIBUTES:
            row.fault("attributes", f"An entity here has at most {MOST_ATTRIBUTES} attributes.")
        elif (day := values[1] or values[2]) and found.get(day, "").split()[:1] not in (["day"], ["after"]):
            row.fault("attributes", f"{name}: {day} must be a day that stands before it.")
        else:
            found[name] = words
    return found


def _collide(row: _Row, entity: Entity, above: Sequence[Entity]) -> None:
    """Find keys that are too few for an entity's items, or those of another one: a later item would replace one."""
    model, key = Model("", (*above, entity), (), ()), entity.key
    possible = prod(model.values(entity.name, name, model.size) for name in {*NAMES.findall("".join(key))})
    if possible < entity.count * 0.99:
        keys = "1 key" if possible == 1 else f"{possible:,.0f} keys"
        why = f"{entity.count:,.0f} items of {entity.name} have only {keys}, so that one replaces another."
        row.fault(SORT_KEY, f"{why} Add an attribute to the sort key.")
    for other in above:
        if other.name != entity.name and _shape(other.key) == _shape(key):
            row.fault(SORT_KEY, f"{entity.name} and {other.name} have the same keys: begin one with another word.")


def _shape(key: Sequence[str]) -> list[str]:
    return [NAMES.sub("<>", part) for part in key]


def _pattern(row: _Row, model: Model) -> Pattern | None:
    name = row.use("name", _text("title"), f"Pattern {row.at + 1}") or ""
    each_second = row.use("rate", rate, "1") or 0.0
    said, operation = row.text("rate") or "1", row.text("request") or "Query"
    if operation not in (*READS, *WRITES):
        row.fault("request", f"Use one of {', '.join((*READS, *WRITES))}.")
    busiest = row.use("busiest", lambda text: float(taken("share", text)[1]) / 100, "0.1%") or BUSIEST
    if operation in WRITES:
        writes = row.use("writes", lambda _: _writes(row.row.get("writes", []), model)) or ()
        made = Pattern(name, each_second, operation, said, busiest=busiest, writes=writes, at=row.at)
        return None if row.wrong else made
    index = row.text("index")
    if index and index not in [each.name for each in model.indexes]:
        row.fault("index", f"There is no index {index[:40]}.")
    pk, sk = row.use("key", lambda text: _key(text, operation)) or ("", ())
    if (named := re.match(r"(\w*)[PS]K\b", row.text("key"))) and named[1] not in ("", index):
        row.fault("key", f"{named[0]} is a key of {named[1]}, and this reads {index or 'the table'}.")
    terms, returns = row.use("filter", filter_of) or (), row.use("returns", names_of) or ()
    limit, times = (int(row.use(each, number, "0") or 0) for each in ("limit", "times"))
    consistent = str(row.row.get("consistent", "")).lower() in ("true", "yes", "on", "1")
    made = Pattern(
        name, each_second, operation, said, index, pk, sk, terms, returns, consistent,
        min(limit, 10**6), min(max(times, 1), 1000), busiest, (), row.at,
    )  # fmt: skip
    if operation == "Get" and pk and not sk and any(each.key[1] for each in model.entities):
        row.fault("key", "The table has a sort key, so a Get names it, too: PK = <Name>, SK = ...")
    for field_of, why in () if row.wrong else requests.refusals(made, model.index(index)).items():
        row.fault(field_of, why)
    return None if row.wrong else made


def _writes(given: Any, model: Model) -> tuple[Change, ...]:
    lines = [str(line) for line in (given if isinstance(given, list) else str(given).splitlines())]
    writes = tuple(change(line, model) for line in lines if line.strip())
    if not 1 <= len(writes) <= 25:
        raise Unreadable("Write 1 to 25 changes, such as Put Loan, or Update Book Copies 5 to 4.")
    return writes


def _key(text: str, operation: str) -> tuple[str, tuple[str, ...]]:
    """A key condition: the template of the partition key, and the operator and operands of the sort key's."""
    if operation == "Scan":
        if text:
            raise Unreadable("A Scan has no key condition: leave it empty.")
        return "", ()
    found = taken("key", _infix(text))
    pk, operator, rest = found[1], (found[2] or "").lower(), (found[3] or "").strip()
    operands = re.split(r"\s+(?i:and)\s+", rest) if operator == "between" else [rest] if operator else []
    if operator == "between" and len(operands) != 2:
        raise Unreadable("BETWEEN takes two values: SK between A and B.")
    pk, *operands = (taken("sought", each)[0] for each in (pk, *operands))
    if operation == "Get" and operator not in ("", "="):
        raise Unreadable("A Get names its whole key with =.")
    return pk, (operator, *operands) if operator else ()


def _infix(text: str) -> str:
    """A condition with its functions between their operands, ``SK begins_with ORDER#``, and without quotation marks."""
    return re.sub(r"(?i)\b(begins_with|contains)\s*\(\s*(\w+)\s*,\s*([^()]*?)\s*\)", r"\2 \1 \3", text.replace('"', ""))


def filter_of(text: str) -> tuple[tuple[str, str, str], ...]:
    """The terms of a filter that are joined by ``and``: attribute, operator, value. Raises Unreadable."""
    parts = re.split(r"\s+and\s+|\s*,\s*", _infix(text), flags=re.IGNORECASE) if text else ()
    terms = [taken("term", each.strip()) for each in parts]
    return tuple((found[1], found[2].lower(), found[3].strip()) for found in terms)


def change(text: str, model: Model) -> Change:
    """A write in words: ``Put Loan Status out``, ``Update Book Copies 5 to 4``, ``Delete Hold``. Raises Unreadable."""
    found = taken("write", text.strip())
    verb, name, rest = found[1].lower(), found[2], found[3]
    if name not in [each.name for each in model.entities]:
        raise Unreadable(f"There is no entity {name[:40]}.")
    parts = [taken("stated", part.strip()) for part in rest.split(",") if part.strip()]
    if unknown := [each[1] for each in parts if not model.entity(name).spec(each[1])]:
        raise Unreadable(f"{name} has no attribute {unknown[0][:40]}.")
    before, after = (tuple((each[1], each[at] or each[2]) for each in parts) for at in (2, 3))
    own, changed = model.entity(name), [each for each, _ in {*after} - {*before}]
    if verb == "update" and not changed:
        last = [*dict(own.attributes), "Name"][len(own.attributes) - 1]
        raise Unreadable(f"Write what an update changes, from and to: Update {name} {last} 1 to 2.")
    if verb == "update" and (fixed := {*changed} & {*NAMES.findall("".join(own.key))}):
        raise Unreadable(f"{min(fixed)} is part of the table's key: no update changes it. Write a Delete and a Put.")
    return Change(name, None if verb == "put" else before, None if verb == "delete" else after)
