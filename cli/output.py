"""Output of commands: results and requests on standard output, everything else on standard error.

The API's JSON is drawn as a table of items, or as one item's fields.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from rich import progress as bars
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from shared.dynamodb.capacity import Capacity, meanings
from shared.dynamodb.tracing import Trace
from shared.values import money
from shared.values.naming import counted

SHOWN_KEYS = 6
"""Keys of one request that are printed; ``--json`` prints all."""

SHOWN_REQUESTS = 100
"""Requests that are printed; ``--json`` prints all."""

PLAIN_WIDTH = 200
"""Columns if there is no terminal, as in a pipe."""


def note(text: str) -> None:
    """Print a note, on standard error."""
    _console(stderr=True).print(Text(printable(text), style="dim"), soft_wrap=True)


def say(text: str) -> None:
    """Print a result on standard output."""
    _console().print(Text(printable(text)), soft_wrap=True)


def complain(text: str) -> None:
    """Print an error, in one line on standard error, unless it is empty."""
    if text:
        _console(stderr=True).print(Text(printable(" ".join(text.split()))), soft_wrap=True)


def printable(text: str) -> str:
    """A text without control sequences of terminals; line breaks stay."""
    return "".join(c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}" for c in text)


def show_rows(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under headings."""
    grid = Grid(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for column in columns:
        grid.add_column(column, overflow="fold")
    for row in rows:
        grid.add_row(*(Text(printable(cell(value))) for value in row))
    if grid.row_count:
        _console().print(grid)
    else:
        say("none")


def show_json(document: Any) -> None:
    """Print a document as JSON; escapes replace control characters of terminals without changing its content."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    escaped = (c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text)
    sys.stdout.write("".join(escaped) + "\n")


def show_trace(trace: Trace) -> None:
    """Print the requests made (operation, index, keys, consumed capacity) and their sum."""
    rows = []
    for number, request in enumerate(trace.requests, start=1):
        operation = request.operation + (f" ({request.refused})" if request.refused else "")
        more = [f"and {len(request.keys) - SHOWN_KEYS} more"] if len(request.keys) > SHOWN_KEYS else []
        keys = "\n".join([*request.keys[:SHOWN_KEYS], *more])
        rows.append((number, operation, request.index, keys, _capacity(request.capacity, request.by_index)))
    if rows:
        show_rows(["No.", "Request", "Index", "Key", "Capacity"], rows[:SHOWN_REQUESTS])
    if len(rows) > SHOWN_REQUESTS:
        say(f"and {len(rows) - SHOWN_REQUESTS:,} more requests, which --json prints")
    say(summary(trace))
    for sentence in meanings(request.capacity for request in trace.requests):
        say(sentence)


def summary(trace: Trace) -> str:
    """The number of requests, and their consumed capacity."""
    unsaid = f" ({counted(trace.silent, 'answer')} without a figure)" if trace.silent else ""
    return f"{counted(trace.count, 'request')}, {trace.capacity} consumed{unsaid}"


@contextmanager
def progress(doing: str, total: int | None, *amount: bars.ProgressColumn) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error; yields the function that advances it. Shows nothing without a terminal.

    ``total`` is None if unknown; ``amount`` shows progress that isn't a number of items.
    """
    console = Console(stderr=True)
    left = bars.TimeRemainingColumn(elapsed_when_finished=True)
    done = (bars.TaskProgressColumn(), *(amount or (bars.MofNCompleteColumn(),)), left)
    columns = (bars.TextColumn(doing), bars.BarColumn(), *done)
    with bars.Progress(*columns, console=console, disable=not console.is_terminal, transient=True) as bar:
        task = bar.add_task(doing, total=total)
        yield lambda done: bar.advance(task, done)


def cell(value: Any) -> str:
    """A value as a table cell."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case {"name": name}:
            return str(name)
        case dict():
            return ", ".join(f"{name} {cell(each)}" for name, each in value.items() if each is not None)
        case list() | tuple():
            several = any(isinstance(each, dict) and "name" not in each for each in value)
            return ("; " if several else ", ").join(map(cell, value))
    return str(value)


def _capacity(total: Capacity | None, by_index: Mapping[str, Capacity]) -> str:
    """The total, and if a write also changed indexes, each one's part."""
    if total is None:
        return "not reported"
    taken = [f"{name} {units}" for name, units in by_index.items() if units != Capacity()]
    return f"{total}\n{', '.join(taken)}" if len(taken) > 1 else str(total)


def _console(*, stderr: bool = False) -> Console:
    # Created for each call: the streams may have been replaced, as in tests.
    console = Console(stderr=stderr, highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = PLAIN_WIDTH
    return console


Json = Mapping[str, Any]
Column = str | Callable[[Json], Any]
"""A field of an item, or a function of the item."""


def fields(document: Json) -> None:
    """Print a document without a table of its own, a line for each field with a value."""
    known = {name: value for name, value in document.items() if value is not None}
    width = max(map(len, known), default=0)
    for name, value in known.items():
        say(f"{name:<{width}}  {cell(value)}")


def table(columns: Mapping[str, Column]) -> Callable[[Json], None]:
    """A view of a page of items as a table, followed by its cursor. Columns are fields, or functions of the item."""

    def draw(page: Json) -> None:
        rows = ([item[c] if isinstance(c, str) else c(item) for c in columns.values()] for item in page["items"])
        show_rows([*columns], rows)
        if page.get("next"):
            say(f"next: {page['next']}")

    return draw


def _percent(number: int | None) -> str:
    return f"{number}%" if number else ""


def _ceiling(item: Json) -> str:
    limits = item["limits"]
    return money.text(limits["ceiling"], limits["currency"]) if limits["ceiling"] else ""


def price(item: Json) -> str:
    """The price of a deal, a draft or another item for display; "" for a draft without one."""
    return money.text(item["price"], item["currency"]) if item["price"] and item["currency"] else ""


def _status(deal: Json) -> str:
    marks = {"hot": deal["hot"], "60-day low": deal["verdict"] and deal["verdict"]["lowest"]}
    return ", ".join([deal["status"], *(name for name, has_it in marks.items() if has_it)])


_SLUG: dict[str, Column] = {"Kind": "kind", "Slug": lambda topic: topic[topic["kind"]]}
_LIMITS: dict[str, Column] = {
    "At most": _ceiling,
    "Off": lambda item: _percent(item["limits"]["leastDiscount"]),
    "Words": lambda item: item["limits"]["words"],
    "Told": lambda item: item["limits"]["pace"],
}

feed = table(
    {
        "Number": "dealNumber",
        "Title": "title",
        "Brand": "brand",
        "Category": "category",
        "Price": price,
        "Off": lambda deal: _percent(deal["discountPercent"]),
        "Created": "createdAt",
        "Status": _status,
        "Deal": "dealId",
    }
)


def found(page: Json) -> None:
    """Print a page of a search, partial matches, and the words that were searched."""
    feed(page)
    if page.get("partly"):
        say("deals with most of the words:")
        feed({"items": page["partly"], "next": None})
    if page.get("searched"):
        say(f"searched: {page['searched']}")
    if page.get("lookedThrough") is not None:
        say(f"only of the newest {counted(page['lookedThrough'], 'deal')} with these words")


messages = table(
    {
        "": lambda message: "unread" if message["unread"] else "read",
        "Kind": "kind",
        "Subject": "subject",
        "Sent": "createdAt",
        "About": lambda message: next(of[f"{name}Id"] for name, of in message.items() if isinstance(of, dict)),
        "Message": "messageId",
    }
)
brands = table({"Brand": "brand", "Name": "name"})
categories = table({"Category": "category", "Name": "name"})
likes = table(_SLUG)
watches = table({**_SLUG, **_LIMITS})
alerts = table({"Alert": "alertId", "Deal": lambda alert: alert.get("deal", {}).get("title"), **_LIMITS})
_changes = table({"At": "at", "By": "by", "Field": "field", "From": "from", "To": "to"})
_users = table({"User": "username", "Email": "email", "Name": "name", "Role": "role", "Created": "createdAt"})


def log(page: Json) -> None:
    """Print who changed what of a deal, a line for each field; posting has none."""
    nothing = {"field": None, "from": None, "to": None}
    _changes({**page, "items": [{**line, **each} for line in page["items"] for each in line["changes"] or [nothing]]})


def users(page: Json) -> None:
    """Print accounts and their number."""
    _users(page)
    say(counted(len(page["items"]), "user"))


def topic(page: Json) -> None:
    """Print a brand's or category's page."""
    fields({name: value for name, value in page.items() if name not in ("featured", "latest")})
    curated(page)


def curated(page: Json) -> None:
    """Print the picked and the latest deals of the front page, the editor's choice, a brand or a category."""
    if "featured" in page:
        say("\nFeatured")
        feed({"items": page["featured"]})
    if "latest" in page:
        say("\nLatest")
        feed(page["latest"])
