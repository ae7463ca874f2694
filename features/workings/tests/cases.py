"""The workings in tests of all features."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import Page

from features.workings import data
from shared.data import keys
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values.links import product_hash
from tools import workbench


def _a_form(table: Table, _deal: Deal) -> None:
    """A form is sent, and a function behind the stream follows it."""
    data.keep(table, "trace", {}, workbench.NOW)
    data.file_step(table, "DEAL#x", "publisher", "1", {}, workbench.NOW, failed=False)


HAPPENS = (_a_form,)
ASKED = (("", "/table"), ("", "/table?partition=DEALNUMBER%231"))
UNORDERED = ("/table",)
IMPORTS = {"collections": ("minijinja",)}
PICTURED = {"collection": lambda deal: f"/table?partition={quote(keys.product(product_hash(deal.link)))}"}


def _of_a_page(page: Page, file: Path) -> None:
    page.locator(".took > summary").click()
    page.locator(".foot").screenshot(path=file)


def _of_a_form(page: Page, file: Path) -> None:
    page.get_by_role("button", name="Like", exact=True).click()
    page.locator("#form-took").screenshot(path=file)


PICTURED_PARTS = {"took": (False, _of_a_page), "form": (True, _of_a_form)}

NOT_IN_SAMPLE = ("Trace", "TraceStep")
"""Only stages that show their work have these."""
