"""The workings in tests of all features."""

from __future__ import annotations

from urllib.parse import quote

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
