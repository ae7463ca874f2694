"""The formats of feeds: ``formats.toml`` describes them, and this file completes the rows of those that need it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from features.feeds.markup import Raw

OUT_OF_STOCK = "out of stock"
NOT_PUBLISHED = "not published"


class Format(StrEnum):
    """The formats that an import reads."""

    AUTO = "auto"
    JSONL = "jsonl"
    JSON = "json"
    GOOGLE = "google"
    SHOPIFY = "shopify"
    WOOCOMMERCE = "woocommerce"
    HEUREKA = "heureka"
    SKROUTZ = "skroutz"
    CENEO = "ceneo"
    TROVAPREZZI = "trovaprezzi"
    YML = "yml"
    JSONLD = "jsonld"


@dataclass(frozen=True, kw_only=True, slots=True)
class Layout:
    """One format, as ``formats.toml`` describes it."""

    looks: str
    names: Mapping[str, str] = field(default_factory=dict)
    columns: list[list[str]] = field(default_factory=list)
    root: list[str] = field(default_factory=list)
    shows: list[str] = field(default_factory=list)
    item: list[str] = field(default_factory=list)
    fields: Mapping[str, list[str]] = field(default_factory=dict)
    currency: str = ""
    gone: Mapping[str, list[str]] = field(default_factory=dict)
    link: list[str] = field(default_factory=list)

    def named(self, names: list[str]) -> list[str]:
        """Columns by the names that they have in ``fields``."""
        return [self.names.get(name, name) for name in names]

    def link_of(self, raw: Raw, shop: str) -> str:
        """The link that is made of a record, in a file without links."""
        before, column = self.link
        return f"{shop.rstrip('/')}{before}{quote(raw.get(column, ''))}"


LAYOUTS: Mapping[Format, Layout] = {
    Format(name): Layout(**table)
    for name, table in tomllib.loads(Path(__file__).with_name("formats.toml").read_text("utf-8")).items()
}
ITEMS = frozenset(name for layout in LAYOUTS.values() for name in layout.item)


def of_table(names: list[str]) -> Format | None:
    """The format of a table with some columns."""
    for form, each in LAYOUTS.items():
        found = {*each.named(names)}
        if each.columns and all(found & {*some} for some in each.columns):
            return form
    return None


def of_markup(root: str, head: str) -> list[Format]:
    """The formats that XML with a root may have; the names of its elements tell if the root doesn't."""
    head = head.lower()
    of_root = [form for form, each in LAYOUTS.items() if root in each.root]
    shown = (form for form, each in LAYOUTS.items() if each.shows and all(f"<{name}" in head for name in each.shows))
    return of_root or [*shown]


def gone(form: Format, raw: Raw) -> str:
    """Why a record can't be bought, or nothing."""
    if form in _GONE:
        return _GONE[form](raw)
    for column, words in LAYOUTS[form].gone.items():
        said = re.sub(r"[\s-]+", "_", raw.get(column, "").strip().lower()).rsplit("/")[-1]
        if said in words:
            return OUT_OF_STOCK
    return ""


def _shopify_gone(raw: Raw) -> str:
    status, published = raw.get("status", "active").lower(), raw.get("published", "true").lower()
    if status != "active" or published == "false":
        return NOT_PUBLISHED
    policy = raw.get("variant_inventory_policy", "deny").lower()
    sold_out = re.fullmatch(r"0|-\d+", raw.get("variant_inventory_qty", ""))
    return OUT_OF_STOCK if sold_out and policy in ("deny", "false") else ""


def _woocommerce_gone(raw: Raw) -> str:
    if raw.get("published", "1").lower() not in ("1", "yes", "true"):
        return NOT_PUBLISHED
    has_none = raw.get("in_stock?", "1").lower() in ("0", "no", "false")
    return OUT_OF_STOCK if has_none and raw.get("backorders_allowed?", "0").lower() in ("0", "no") else ""


_GONE: Mapping[Format, Callable[[Raw], str]] = {
    Format.SHOPIFY: _shopify_gone,
    Format.WOOCOMMERCE: _woocommerce_gone,
}

_OF_VARIANT = re.compile(r"variant_|option\d_value")
"""Shopify's columns that aren't carried down."""

Rows = Iterator[tuple[int, Raw]]


def _shopify(rows: Rows) -> Rows:
    """A file's variants: values that only a product's first row has are carried down."""
    product: dict[str, str] = {}
    for number, row in rows:
        given = {name: text for name, text in row.items() if text.strip()}
        if "variant_inventory_tracker" in row and "variant_inventory_tracker" not in given:
            given.pop("variant_inventory_qty", None)  # it is not counted, and Shopify writes 0
        if given.get("handle") != product.get("handle"):
            product = given
        if "variant_price" not in given:
            continue
        whole = {**given, **{name: text for name, text in product.items() if not _OF_VARIANT.match(name)}}
        options = [whole.get(f"option{each}_value", "") for each in (1, 2, 3)]
        whole["options"] = ", ".join(each for each in options if each and each != "Default Title")
        own = whole.get("variant_sku") or whole["options"]
        whole["own_id"] = ":".join(filter(None, [whole.get("handle"), own]))
        yield number, whole


def _woocommerce(rows: Rows) -> Rows:
    """Products and variations: what a variation doesn't have is its parent's."""
    parents: dict[str, dict[str, str]] = {}
    for number, row in rows:
        given = {name: text for name, text in row.items() if text.strip()}
        given |= {"page": given.get("id", ""), "own_id": given.get("sku") or given.get("id", "")}
        kind = given.get("type", "simple").lower()
        if kind.startswith("variable"):
            own = ("page", "categories", "brands", "images", "published", "short_description", "description")
            carried = {name: given[name] for name in own if name in given}
            parents |= {f"id:{given.get('id')}": carried, given.get("sku", ""): carried}
            continue
        if kind.startswith("variation"):
            above = parents.get(given.get("parent", "").strip(), {})
            given = {**above, **given, **{name: above[name] for name in ("page", "published") if name in above}}
            values = [given.get(f"attribute_{each}_value(s)", "") for each in (1, 2, 3)]
            given["options"] = ", ".join(filter(None, values))
        yield number, {**given, **{name: given.get(name, "").split(",")[0] for name in ("images", "categories")}}


def _yml(rows: Rows) -> Rows:
    """Offers. One with a model instead of a name is named by its kind, maker and model."""
    for number, row in rows:
        parts = (row.get(name, "") for name in ("typeprefix", "vendor", "model"))
        yield number, {**row, "kind_and_model": " ".join(filter(None, parts)) if row.get("model") else ""}


COMPLETED: Mapping[Format, Callable[[Rows], Rows]] = {
    Format.SHOPIFY: _shopify,
    Format.WOOCOMMERCE: _woocommerce,
    Format.YML: _yml,
}
"""What completes the rows of a format by those before them."""
