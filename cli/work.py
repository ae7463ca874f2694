"""Commands that work on the table: each prints its answer, in the API's own JSON or drawn, and the requests it made."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any

import typer

from cli import views
from cli.connection import open_table
from cli.output import complain, show_json, show_trace
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.http.requests import MAX_PAGE
from shared.values import times

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document, for other programs.")]
Limit = Annotated[int, typer.Option(min=1, max=MAX_PAGE, help="Items a page has at most.")]
Cursor = Annotated[str | None, typer.Option(help="Where the page starts: the last page's next.")]

View = Callable[[Any], None]
Function = Callable[..., Any]


class Work:
    """A command's table and time. The table is opened when it is first asked for: input is checked before.

    ``failed`` is what there is to complain of after the answer, if only by the exit code.
    """

    def __init__(self) -> None:
        self.failed: str | None = None
        self.trace: Trace | None = None

    @cached_property
    def table(self) -> Table:
        """The table, whose requests are traced. Raises NoTable, Unavailable."""
        table = open_table()
        self.trace = Trace().attach(table)
        return table

    @cached_property
    def now(self) -> datetime:
        """The time at which it is first asked for; a table that is missing is told of before."""
        _ = self.table
        return times.now()


def group(name: str, about: str) -> typer.Typer:
    """A group of commands; without one it lists them."""
    return typer.Typer(name=name, help=about, no_args_is_help=True)


def command(group: typer.Typer, view: View = views.fields, name: str | None = None, **settings: Any) -> Function:
    """Add a command to a group: a function of its work and its arguments, which returns the text to print."""
    return lambda do: group.command(name, **settings)(answering(view)(do))


def answering(view: View = views.fields) -> Callable[[Function], Callable[..., None]]:
    """Make a command of a function: with ``--json`` its answer is printed as it is, without as ``view`` draws it.

    The requests follow, also where the last of them was refused.
    """

    def made_of(do: Function) -> Callable[..., None]:
        def run(*, as_json: bool, **typed: Any) -> None:
            work = Work()
            try:
                answer = do(work, **typed)
            except BaseException:
                if work.trace:
                    _print(None, None, work.trace, as_json)
                raise
            _print(answer, view, work.trace or Trace().attach(work.table), as_json)
            if work.failed is not None:
                complain(work.failed)
                raise typer.Exit(1)

        signature = inspect.signature(do, eval_str=True)
        _, *typed = signature.parameters.values()
        json = inspect.Parameter("as_json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=AsJson)
        run.__signature__ = signature.replace(parameters=[*typed, json])  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {each.name: each.annotation for each in (*typed, json)}
        run.__name__, run.__doc__ = do.__name__, do.__doc__
        return run

    return made_of


def _print(answer: Any, view: View | None, trace: Trace, as_json: bool) -> None:
    if as_json:
        requests = [request.to_json() for request in trace.requests]
        show_json({"result": answer, "requests": requests, "capacity": trace.capacity.to_json()})
        return
    if view is not None:
        view(answer)
    show_trace(trace)
