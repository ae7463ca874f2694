"""``btd import`` with shops' feeds, in place of the command that reads JSON Lines alone."""

from __future__ import annotations

import codecs
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from cli.commands import open_table
from cli.output import note, say
from features.feeds.checking import EXAMPLE, Check, show
from features.feeds.files import FeedFile
from features.feeds.formats import Format
from features.feeds.importing import FeedImporter, Wishes
from features.feeds.shop import Shop, template
from features.feeds.shop import categories as read_categories
from features.imports.commands import Workers, import_other, import_records
from features.imports.importing import WORKERS
from features.imports.json_lines import WrongFile
from shared.errors import Invalid
from shared.models.catalog import CATEGORIES
from shared.values import money, times
from shared.values.naming import counted


def _currency(text: str) -> str:
    if text and text.upper() not in money.currencies():
        raise typer.BadParameter("must be a currency's code, such as EUR")
    return text.upper()


def _category(text: str) -> str:
    if text and text not in CATEGORIES:
        raise typer.BadParameter(f"must be one of {', '.join(CATEGORIES)}")
    return text


def _encoding(text: str) -> str:
    try:
        return codecs.lookup(text).name if text else ""
    except LookupError as error:
        raise typer.BadParameter("must be an encoding, such as windows-1250") from error


def import_deals(
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="A feed or an export; - reads standard input.")],
    form: Annotated[Format, typer.Option("--format", help="The file's format; auto detects it.")] = Format.AUTO,
    source: Annotated[str, typer.Option(metavar="NAME", help="The shop's name; ids are unique within it.")] = "",
    shop: Annotated[str, typer.Option(metavar="ADDRESS", help="The shop's address, for a Shopify export.")] = "",
    currency: Annotated[
        str, typer.Option(parser=_currency, help="The currency of amounts without one; else the format's, or USD.")
    ] = "",
    category: Annotated[
        str, typer.Option(parser=_category, metavar="SLUG", help="The category of records that have no other.")
    ] = "",
    categories: Annotated[
        Path | None, typer.Option(metavar="MAP", help="A TOML file that maps the file's categories to ours.")
    ] = None,
    encoding: Annotated[
        str, typer.Option(parser=_encoding, help="The text's encoding, such as windows-1250, if it isn't UTF-8.")
    ] = "",
    suggest_categories: Annotated[
        Path | None,
        typer.Option(metavar="MAP", help="Write a map of the unmapped categories, and import nothing."),
    ] = None,
    update: Annotated[bool, typer.Option("--update", help="Update existing deals from the file.")] = False,
    end_missing: Annotated[
        bool, typer.Option("--end-missing", help="End deals of --source that the file no longer has.")
    ] = False,
    end_most: Annotated[
        bool, typer.Option("--end-most", help="End missing deals even if they are more than a fifth of the source's.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing: say how the file is read, and what an import would do.")
    ] = False,
    workers: Workers = WORKERS,
) -> None:
    """Import deals from a shop's feed, or the items of an export. A repeat creates nothing twice. Bad records are
    reported at the end."""
    if end_missing and not source:
        raise typer.BadParameter("needs --source, the shop whose deals it may end", param_hint="--end-missing")
    if import_other(file):
        return
    of = Shop(source, shop, currency, read_categories(categories) if categories else {}, category)
    if suggest_categories is not None:
        _suggest(FeedFile(file, of, form, times.now(), encoding), of, suggest_categories)
        return
    wishes = Wishes(update, end_missing, end_most)
    if check:
        of = replace(of, address=of.address or EXAMPLE)
        _check(file, Check(open_table(), times.now(), shop=of, form=form, encoding=encoding, wishes=wishes))
        return
    import_records(file, partial(FeedImporter, shop=of, form=form, encoding=encoding, wishes=wishes), workers)


def _check(file: BinaryIO, check: Check) -> None:
    """Print what an import would do. Raises WrongFile, and typer.Exit if it would refuse a record."""
    check.run(file)
    is_fine = show(check, file)
    if check.report.stopped:
        raise WrongFile(check.report.stopped)
    if not is_fine:
        raise typer.Exit(1)


def _suggest(feed: FeedFile, shop: Shop, path: Path) -> None:
    """Write a map of the file's categories. Raises Invalid if the map's file exists, WrongFile."""
    if path.exists():
        raise Invalid(f"{path} exists: name another file, or add to that one.")
    read = sum(1 for _ in feed)
    path.write_text(template(shop.unknown), encoding="utf-8")
    say(f"{path}: {counted(len(shop.unknown), 'name')} of categories in {counted(read, 'record')}")
    note(f"Fill it in and import with --categories {path}.")


REPLACES = {"import": import_deals}
