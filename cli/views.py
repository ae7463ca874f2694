"""How the API's JSON looks as text: a table of items, or one item's fields."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from cli.output import cell, say, show_rows
from shared.values import money
from shared.values.naming import counted

Json = Mapping[str, Any]
Column = str | Callable[[Json], Any]
"""A field of an item, or what is made of the item."""


def fields(document: Json) -> None:
    """Whatever has no table of its own, a field a line; fields without a value are left out."""
    known = {name: value for name, value in document.items() if value is not None}
    width = max(map(len, known), default=0)
    for name, value in known.items():
        say(f"{name:<{width}}  {cell(value)}")


def table(columns: Mapping[str, Column]) -> Callable[[Json], None]:
    """A view of a page of items: under each heading a field, or what is made of the item. Its cursor follows."""

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
    """The price of a deal, a draft or a cart's item, as it is read; "" while a draft has none."""
    return money.text(item["price"], item["currency"]) if item["price"] and item["currency"] else ""


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
        "Status": lambda deal: deal["status"] + (", hot" if deal["hot"] else ""),
        "Deal": "dealId",
    }
)


def found(page: Json) -> None:
    """A page of a search, deals with most of its words, and the words that were searched."""
    feed(page)
    if page.get("partly"):
        say("deals with most of the words:")
        feed({"items": page["partly"], "next": None})
    if page.get("searched"):
        say(f"searched: {page['searched']}")
    if page.get("lookedThrough") is not None:
        say(f"only of the newest {counted(page['lookedThrough'], 'deal')} with these words")


popular = table(
    {
        "Score": "score",
        "Number": "dealNumber",
        "Title": "title",
        "Brand": "brand",
        "Created": "createdAt",
        "Deal": "dealId",
    }
)
drafts = table(
    {
        "Draft": "draftId",
        "Title": "title",
        "Brand": "brand",
        "Price": price,
        "Post at": "startsAt",
        "Not posted because": "refused",
    }
)
messages = table(
    {
        "": lambda message: "unread" if message["unread"] else "read",
        "Kind": "kind",
        "Subject": "subject",
        "Sent": "createdAt",
        "About": lambda message: message["deal"]["dealId"] if "deal" in message else message["order"]["orderId"],
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
    """Who changed what of a deal, a field a line; where it was posted, no field."""
    nothing = {"field": None, "from": None, "to": None}
    _changes({**page, "items": [{**line, **each} for line in page["items"] for each in line["changes"] or [nothing]]})


def users(page: Json) -> None:
    """Accounts, and how many there are."""
    _users(page)
    say(counted(len(page["items"]), "user"))


def topic(page: Json) -> None:
    """A brand's or a category's page."""
    fields({name: value for name, value in page.items() if name not in ("featured", "latest")})
    curated(page)


def curated(page: Json) -> None:
    """The deals that were picked, and the latest: of the front page, the editor's choice, a brand or a category."""
    if "featured" in page:
        say("\nFeatured")
        feed({"items": page["featured"]})
    if "latest" in page:
        say("\nLatest")
        feed(page["latest"])
