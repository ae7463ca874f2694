"""``btd import`` with shops' feeds, in place of the core's, which reads JSON Lines alone."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from cli.imports import WORKERS, Workers, import_other, import_records
from cli.output import note, say
from features.feeds.formats import Format, Shop, records, template
from features.feeds.formats import categories as read_categories
from features.feeds.importing import FeedImporter
from shared.errors import Invalid
from shared.values import money, times
from shared.values.naming import counted


def _currency(text: str) -> str:
    if text.upper() not in money.currencies():
        raise typer.BadParameter("must be a currency's code, such as EUR")
    return text.upper()


def import_deals(
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="A feed or an export; - reads standard input.")],
    form: Annotated[Format, typer.Option("--format", help="The file's format; auto detects it.")] = Format.AUTO,
    source: Annotated[str, typer.Option(metavar="NAME", help="The shop's name; ids are unique within it.")] = "",
    shop: Annotated[str, typer.Option(metavar="ADDRESS", help="The shop's address, for a Shopify export.")] = "",
    currency: Annotated[str, typer.Option(parser=_currency, help="The currency of amounts without one.")] = "USD",
    categories: Annotated[
        Path | None, typer.Option(metavar="MAP", help="A TOML file that maps the file's categories to ours.")
    ] = None,
    suggest_categories: Annotated[
        Path | None,
        typer.Option(metavar="MAP", help="Write a map of the unmapped categories, and import nothing."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Update existing deals from the file.")] = False,
    end_missing: Annotated[
        bool, typer.Option("--end-missing", help="End deals of --source that the file no longer has.")
    ] = False,
    workers: Workers = WORKERS,
) -> None:
    """Import deals from a shop's feed, or the items of an export. A repeat creates nothing twice. Bad records are
    reported at the end."""
    if end_missing and not source:
        raise typer.BadParameter("needs --source, the shop whose deals it may end", param_hint="--end-missing")
    if import_other(file):
        return
    of = Shop(source, shop, currency, read_categories(categories) if categories else {})
    if suggest_categories is not None:
        _suggest(file, of, form, suggest_categories)
        return
    make = partial(FeedImporter, shop=of, form=form, update=update, end_missing=end_missing)
    import_records(file, make, workers)


def _suggest(file: BinaryIO, shop: Shop, form: Format, path: Path) -> None:
    """Write a map of the file's categories. Raises Invalid if the map's file exists, WrongFile."""
    if path.exists():
        raise Invalid(f"{path} exists: name another file, or add to that one.")
    read = sum(1 for _ in records(file, shop, form, times.now()))
    path.write_text(template(shop.unknown), encoding="utf-8")
    say(f"{path}: {counted(len(shop.unknown), 'name')} of categories in {counted(read, 'record')}")
    note(f"Fill it in and import with --categories {path}.")


REPLACES = {"import": import_deals}
