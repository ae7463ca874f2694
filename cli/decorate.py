"""``btd decorate``: existing items catch up with a release that writes more."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import decorations
from cli.decorations import REWRITES
from cli.segments import Number, run_all


def decorate(
    item_type: Annotated[str, typer.Argument(metavar="TYPE", help=f"One of: {', '.join(REWRITES)}.")],
    segments: Number = 4,
) -> None:
    """Rewrite existing items of a type as this release writes them; it continues where it was interrupted."""
    if item_type not in REWRITES:
        raise typer.BadParameter(f"must be one of {', '.join(REWRITES)}, not {item_type!r}.", param_hint="TYPE")
    run_all(
        "Decorating",
        segments,
        lambda table, *segment: decorations.run(table, item_type, *segment),
        done=lambda rewritten: f"{rewritten:,} rewritten",
    )
