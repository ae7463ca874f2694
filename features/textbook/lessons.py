"""The lessons: one description of each, from which the site's page and the page of the documents' site are made.

A file of ``lessons/`` is a group. A lesson has a question, a design, and its requests as DynamoDB takes them, those of
the common version first, then ours. ``finds`` and ``refused`` say what a request comes to, and a test runs them all.

One lesson has a table of its own, with an index whose keys have several attributes, and its recorded answers.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from features.scratch.steps import Script, Step, Value
from features.workings.patterns import PATTERNS
from shared.dynamodb.attributes import Typed
from shared.dynamodb.schema import PARTITION_KEY, SORT_KEY
from shared.errors import NoSuchPath

FOLDER = Path(__file__).with_name("lessons")

GROUPS = (
    "basics", "one-to-many", "many-to-many", "filtering", "sorting", "additional", "load", "migrations", "tips",
    "judging", "patterns",
)  # fmt: skip
"""The files, in the order in which they are read."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """A question before the run: its answers, each with the sentences that say why it is right or wrong, and the number
    of the right one (from 0).

    Neither the page above the question nor the drawing beside it gives the answer.
    """

    ask: str
    answers: Sequence[tuple[str, str]]
    right: int


@dataclass(frozen=True, slots=True)
class Code:
    """A function, class or constant of ours: ``catalog/feeds.read``, a module of ``shared/data`` and a name in it."""

    path: str
    name: str
    line: int

    @property
    def shown(self) -> str:
        path = Path(self.path)  # a feature's ``data.py`` counts as the module with the folder's name
        return f"{path.parent.name if path.stem == 'data' else path.stem}.{self.name}"

    @property
    def module(self) -> str:
        return self.path.removesuffix(".py").replace("/", ".")


@dataclass(frozen=True, slots=True)
class Lesson(Script):
    """One page, with what it runs.

    ``often`` says what the common version does, ``here`` what ours does or why this application has none. ``runs`` is
    the strategy whose page has the very request of a pattern, which then has no page of its own. ``agree_at`` is a
    value with which both versions find the same items, where the common one is wrong with others. ``points`` are lines
    of a page: a name, a text, and a source or nothing. ``figure`` names a drawing or a calculator of ``figures.py``.

    In the texts, backquotes mark code and ``[[limit]]`` a term of the glossary, where it has the glossary's sense
    (``unmarked``).
    """

    slug: str
    title: str
    question: str
    design: str
    group: str
    number: int = 0
    here: str = ""
    often: str = ""
    code: Sequence[Code] = ()
    points: Sequence[tuple[str, str, str]] = ()
    minutes: int = 0
    runs: str = ""
    agree_at: str = ""
    figure: str = ""
    predict: Prediction | None = None

    @property
    def kind(self) -> str:
        """The page's mark in the contents: whether it runs, and whether a request of it is to fail."""
        if not self.can_run:
            return "text only"
        return "fails on purpose" if any(step.refused for step in self.common) else "runs"

    @property
    def page(self) -> str:
        """The name of the page that shows it."""
        return self.runs or self.slug

    @property
    def can_run(self) -> bool:
        return bool(self.ours)

    @property
    def paragraphs(self) -> list[str]:
        return [part.replace("\n", " ").strip() for part in self.design.strip().split("\n\n")]


@dataclass(frozen=True, slots=True)
class Group:
    """The lessons of one file, with the group's name and what it is about."""

    slug: str
    name: str
    about: str
    lessons: Sequence[Lesson]


@cache
def groups() -> tuple[Group, ...]:
    """All groups, in order, without the patterns of features that aren't there.

    Raises LookupError for a lesson whose code is not there.
    """
    read = []
    for slug in GROUPS:
        file = tomllib.loads((FOLDER / f"{slug}.toml").read_text(encoding="utf-8"))
        read.append(
            Group(
                slug, file["name"], file["about"], [_lesson(slug, each) for each in file["lesson"] if _is_there(each)]
            )
        )
    return tuple(read)


@cache
def by_slug() -> Mapping[str, Lesson]:
    """The lessons that have a page, by their names in the address."""
    return {lesson.slug: lesson for group in groups() for lesson in group.lessons if not lesson.runs}


@cache
def moved() -> Mapping[str, str]:
    """The patterns that are shown on the page of a strategy, each with the name of that page."""
    return {lesson.slug: lesson.runs for group in groups() for lesson in group.lessons if lesson.runs}


def find(slug: str) -> Lesson:
    """A lesson by its name in the address. Raises NoSuchPath."""
    if slug not in by_slug():
        raise NoSuchPath
    return by_slug()[slug]


@cache
def glossary() -> Mapping[str, str]:
    """The terms that pages explain in place, each with its sentence."""
    return tomllib.loads(FOLDER.with_name("glossary.toml").read_text(encoding="utf-8"))


def path() -> list[Lesson]:
    """The lessons of the path through the textbook, which say how many minutes they take."""
    return [lesson for lesson in by_slug().values() if lesson.minutes]


_MARK = re.compile(r"\[\[([^][|]+)(?:\|([^][]+))?]]")
"""A term of the glossary in a text: ``[[limit]]``, in the plural ``[[cursors]]``, or as ``[[reads past|cursor]]``."""


def terms_in(text: str) -> Iterator[tuple[str, str]]:
    """The parts of a text, each with the term of the glossary that it stands for, or nothing.

    Raises LookupError for a term that isn't there.
    """
    end = 0
    for mark in _MARK.finditer(text):
        yield "", text[end : mark.start()]
        yield _term(mark[2] or mark[1]), mark[1]
        end = mark.end()
    yield "", text[end:]


def _term(text: str) -> str:
    """The term that a text names, perhaps in the plural or with a capital letter. Raises LookupError."""
    small = text[:1].lower() + text[1:]
    for name in (text, small, text.removesuffix("s"), small.removesuffix("s")):
        if name in glossary():
            return name
    raise LookupError(f"The glossary has no {text}")


def unmarked(text: str) -> str:
    """A text without the marks of terms."""
    return _MARK.sub(r"\1", text)


MADE = {"value", "common", "ours", "code", "points", "predict", "marks"}
"""Parts of a description that become objects of a lesson, and the marks of its sentence."""


def _is_there(read: Mapping[str, Any]) -> bool:
    """Whether a lesson has no pattern, or one that this site has."""
    return "number" not in read or str(read["number"]) in PATTERNS


def _lesson(group: str, read: Mapping[str, Any]) -> Lesson:
    if "number" in read:  # a pattern, whose name and sentence are known to every page
        known = PATTERNS[str(read["number"])]
        design = _marked(known.sentence, read.get("marks", ()))
        read = {"slug": f"pattern-{read['number']}", "title": known.name, "design": design, **read}
    rest = {name: value for name, value in read.items() if name not in MADE}
    return Lesson(
        group=group,
        value=Value(**read["value"]) if "value" in read else None,
        common=[step_of(each) for each in read.get("common", ())],
        ours=[step_of(each) for each in read.get("ours", ())],
        code=[_code(each) for each in read.get("code", ()) if _has(each)],
        points=[(name, text, source) for name, text, source in read.get("points", ())],
        predict=_prediction(read["predict"]) if "predict" in read else None,
        **rest,
    )


def _marked(sentence: str, marks: Sequence[str]) -> str:
    """A pattern's sentence with the terms that its lesson marks in it. Raises LookupError for words it doesn't have."""
    for mark in marks:
        words = mark.partition("|")[0]
        if words not in sentence:
            raise LookupError(f"{sentence} has no {words}")
        sentence = sentence.replace(words, f"[[{mark}]]", 1)
    return sentence


def _prediction(read: Mapping[str, Any]) -> Prediction:
    return Prediction(read["ask"], [(text, why) for text, why in read["answers"]], read["right"])


def step_of(read: Mapping[str, Any]) -> Step:
    """A request. Its arguments begin with a capital letter, as DynamoDB's do; ``values`` fill the placeholders."""
    arguments = {name: _value(value) for name, value in read.items() if name[0].isupper()}
    values = dict(read.get("values", {}))
    if read["ask"] == "Query":
        values = {":partition": "{scratch}", **values}
    if values:
        arguments["ExpressionAttributeValues"] = values
    expected = {name: read.get(name) for name in ("finds", "first", "examined", "refused", "takes")}
    return Step(read["ask"], arguments, **expected)


def _value(read: Any) -> Any:
    """A value of a file; ``{ as = "NS", of = ["1"] }`` is one of a type that TOML has not."""
    match read:
        case {"as": "B", "of": str(content)}:
            return Typed("B", content.encode())
        case {"as": "BS", "of": [*members]}:
            return Typed("BS", [member.encode() for member in members])
        case {"as": kind, "of": content}:
            return Typed(kind, content)
        case Mapping():
            return {name: _value(inner) for name, inner in read.items()}
    return read


def _has(code: str) -> bool:
    """Whether the feature that defines a lesson's code is there."""
    return not code.startswith("features/") or (FOLDER.parents[2] / "/".join(code.split("/")[:2])).is_dir()


def _code(text: str) -> Code:
    module, _, name = text.rpartition(".")
    home = "" if module.startswith("features/") else "shared/" if module.startswith("dynamodb/") else "shared/data/"
    path = f"{home}{module}.py"
    lines = (FOLDER.parents[2] / path).read_text(encoding="utf-8").splitlines()
    defined = re.compile(rf"(?:(?:def|class) {name}\b|{name}\b.*=)")
    for number, line in enumerate(lines, 1):
        if defined.match(line):
            return Code(path, name, number)
    raise LookupError(f"{path} defines no {name}")


@cache
def recorded() -> Mapping[str, Any]:
    """A table with an index whose keys have several attributes, its items, and what Queries of the index found."""
    return tomllib.loads(Path(__file__).with_name("multi-attribute.toml").read_text(encoding="utf-8"))


def shown() -> set[str]:
    """The paths of the files whose code lessons show."""
    return {code.path for lesson in by_slug().values() for code in lesson.code}


def add_table(client: Any) -> None:
    """Create the recorded table where no deployment does, and name it in the environment."""
    os.environ["TEXTBOOK_TABLE"] = "textbook"
    client.create_table(**table_request("textbook"))


def table_request(name: str) -> dict[str, Any]:
    """The arguments of ``create_table`` for the recorded table."""
    kept = recorded()
    keys = [*((each, "HASH") for each in kept["partition"]), *((each, "RANGE") for each in kept["sort"])]
    index = {
        "IndexName": kept["index"],
        "KeySchema": [{"AttributeName": each, "KeyType": kind} for each, kind in keys],
        "Projection": {"ProjectionType": "ALL"},
    }
    return {
        "TableName": name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [{"AttributeName": n, "AttributeType": kind} for n, kind in kept["types"].items()],
        "KeySchema": [
            {"AttributeName": PARTITION_KEY, "KeyType": "HASH"}, {"AttributeName": SORT_KEY, "KeyType": "RANGE"},
        ],
        "GlobalSecondaryIndexes": [index],
    }  # fmt: skip
