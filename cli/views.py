"""How the API's JSON looks as text: a table of items, or one item's fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cli.output import say, show_fields, show_rows
from shared.values.counts import counted

Json = dict[str, Any]


def fields(document: Json) -> None:
    """Whatever has no table of its own, a field a line."""
    show_fields(document)


def deals(found: Sequence[Json]) -> None:
    rows = (
        (
            deal["dealNumber"],
            deal["title"],
            deal["brand"],
            deal["category"],
            f"{deal['price']} {deal['currency']}",
            f"{deal['discountPercent']}%" if deal["discountPercent"] else None,
            deal["createdAt"],
            deal["status"] + (", hot" if deal["hot"] else ""),
            deal["dealId"],
        )
        for deal in found
    )
    show_rows(["Number", "Title", "Brand", "Category", "Price", "Off", "Created", "Status", "Deal"], rows)


def drafts(page: Json) -> None:
    columns = ("draftId", "title", "brand", "price", "startsAt", "refused")
    rows = ([draft[column] for column in columns] for draft in page["items"])
    show_rows(["Draft", "Title", "Brand", "Price", "Post at", "Not posted because"], rows)


def feed(page: Json) -> None:
    deals(page["items"])
    _next(page)


def popular(page: Json) -> None:
    columns = ("score", "dealNumber", "title", "brand", "createdAt", "dealId")
    rows = ([deal[column] for column in columns] for deal in page["items"])
    show_rows(["Score", "Number", "Title", "Brand", "Created", "Deal"], rows)
    _next(page)


def log(page: Json) -> None:
    """Who changed what of a deal, a field a line; where it was posted, no field."""
    nothing = {"field": None, "from": None, "to": None}
    rows = (
        (line["at"], line["by"], each["field"], each["from"], each["to"])
        for line in page["items"]
        for each in line["changes"] or [nothing]
    )
    show_rows(["At", "By", "Field", "From", "To"], rows)
    _next(page)


def topic(page: Json) -> None:
    """A brand's or a category's page."""
    fields({name: value for name, value in page.items() if name not in ("featured", "latest")})
    curated(page)


def curated(page: Json) -> None:
    """The deals that were picked, and the latest: of the front page, the editor's choice, a brand or a category."""
    if "featured" in page:
        say("\nFeatured")
        deals(page["featured"])
    if "latest" in page:
        say("\nLatest")
        feed(page["latest"])


def brands(page: Json) -> None:
    show_rows(["Brand", "Name"], ((brand["brand"], brand["name"]) for brand in page["items"]))


def categories(page: Json) -> None:
    show_rows(["Category", "Name"], ((category["category"], category["name"]) for category in page["items"]))


def topics(page: Json) -> None:
    """Brands and categories mixed: what someone watches or likes."""
    show_rows(["Kind", "Slug"], ((item["kind"], item[item["kind"]]) for item in page["items"]))


def watches(page: Json) -> None:
    """Brands and categories that someone watches, and within which limits."""
    columns = ["Kind", "Slug", "At most", "Off", "Words", "Told"]
    show_rows(columns, ([item["kind"], item[item["kind"]], *_limits(item["limits"])] for item in page["items"]))


def alerts(page: Json) -> None:
    """Alerts of somebody: the deal whose product they are on, or words."""
    columns = ["Alert", "Deal", "At most", "Off", "Words", "Told"]
    rows = (
        [item["alertId"], item.get("deal", {}).get("title", ""), *_limits(item["limits"])] for item in page["items"]
    )
    show_rows(columns, rows)


def _limits(limits: Json) -> list[str]:
    ceiling = f"{limits['currency']} {limits['ceiling']}" if limits["ceiling"] else ""
    least = f"{limits['leastDiscount']}%" if limits["leastDiscount"] else ""
    return [ceiling, least, limits["words"] or "", limits["pace"]]


def users(page: Json) -> None:
    columns = ("username", "email", "name", "role", "createdAt")
    show_rows(["User", "Email", "Name", "Role", "Created"], ([user[c] for c in columns] for user in page["items"]))
    say(counted(len(page["items"]), "user"))


def messages(page: Json) -> None:
    rows = (
        (
            "unread" if message["unread"] else "read",
            message["kind"],
            message["subject"],
            message["createdAt"],
            message["deal"]["dealId"] if "deal" in message else message["order"]["orderId"],
            message["messageId"],
        )
        for message in page["items"]
    )
    show_rows(["", "Kind", "Subject", "Sent", "About", "Message"], rows)
    _next(page)


def _next(page: Json) -> None:
    if page["next"]:
        say(f"next: {page['next']}")
