"""Who comes in: whom a page is for, where nobody is led, and that a form was sent from our own pages."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from functions.pages import account, desk, mine, sales, shop
from shared.dynamodb.table import Table
from tests.signed_in.conftest import PostDeal, entered
from tests.support.browsing import Browser

OF_MEMBERS = [
    "/my/inbox", "/my/inbox?unread=yes", "/my/watches", "/my/saved", "/account", "/account/remove", "/shop/cart",
    "/shop/addresses", "/shop/checkout", "/shop/orders", "/shop/orders/x",
    *(f"/my/inbox?{name}=x" for name in ("path", "next", "template", "status", "cookies", "fragment")),
]  # fmt: skip
"""Pages of one's own; a query's names are also those of our functions' arguments."""

OF_EDITORS = [
    "/desk", "/desk/deals/new", "/desk/deals", "/desk/drafts", "/desk/front-page", "/desk/editors-choice",
    "/desk/categories/shoes", "/desk/brands", "/desk/shop/orders",
]  # fmt: skip
OF_A_DEAL = [f"/desk/deals/1{of}" for of in ("", "/end", "/withdraw", "/hot", "/hot/progress", "/log")]
OF_SALES = ["/desk/shop", "/desk/shop/orders/x", "/desk/shop/stock/1", "/desk/shop/customers/ana"]

_MODULES = [account, sales, *(each for package in (desk, mine, shop) for each in vars(package).values())]
FORMS = sorted(
    re.sub("<(.*?)>", lambda part: {"slug": "shoes", "kind": "brand", "step": "send"}.get(part[1], "1"), rule)
    for module in _MODULES
    for method, rule, _ in getattr(getattr(module, "routes", None), "pages", [])
    if method == "POST"
)
"""The address of every form that there is."""

STANDS = {
    "/my/inbox/read-all": "/my/inbox",
    "/my/watches/brand/apple": "/brands/apple",
    "/my/likes/category/shoes": "/categories/shoes",
    "/my/saved/12": "/deals/12",
    "/my/votes/12/up": "/deals/12",
    **dict.fromkeys(
        (f"/account/{of}" for of in ("name", "email", "password", "sign-out", "sign-out-everywhere")), "/account"
    ),
    "/shop/cart/remove": "/shop/cart",
    "/shop/addresses/remove": "/shop/addresses",
    "/desk/deals/preview": "/desk/deals/new",
    "/desk/deals/12/preview": "/desk/deals/12",
    "/desk/deals/12/front-page": "/desk/deals/12",
    "/desk/drafts/12/preview": "/desk/drafts/12",
}
"""Forms whose address shows no page by itself, and the page that each stands on."""


def contents(table: Table) -> list[Any]:
    return sorted(table.scan()[0], key=lambda item: (item["PK"], item["SK"]))


def test_nobody_is_led_to_sign_in_and_back(anyone: Browser) -> None:
    for path in (*OF_MEMBERS, *OF_EDITORS, *OF_A_DEAL, *OF_SALES):
        seen = anyone.get(path)

        assert (seen.status, seen.location) == (303, f"/account/sign-in?{urlencode({'next': path})}")
    assert anyone.get("/desk/deals/1/hot/progress", Accept="application/json").status == 401  # a page's script


def test_editors_see_each_page_of_the_desk_and_members_none(editor: Browser, ana: Browser) -> None:
    for path in OF_EDITORS:
        assert editor.get(path).status == 200, path
    for path in (*OF_EDITORS, *OF_A_DEAL, *OF_SALES):
        seen = ana.get(path)
        assert (seen.status, "The desk is for editors." in seen.words) == (403, True), path


def test_members_forms_at_desk_or_from_elsewhere_do_nothing(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    """All that a browser may say of where a form is from is in ``tests/html/test_forms.py``."""
    assert post_deal().number == 1
    eddy = entered(table, "eddy", "editor")
    eddy.fetch_site = "cross-site"
    before = contents(table)

    at_the_desk = [path for path in FORMS if path.startswith("/desk")]
    others = [path for path in FORMS if path != "/account/unsubscribe"]  # which mail programs send
    for who, paths in ((ana, at_the_desk), (eddy, others)):
        for path in paths:
            seen = who.post(path, {"name": "Nike", "add": "1", "do": "add", "on": "1", "deal": "1", "pieces": "1"})
            assert (seen.status, "Set-Cookie" in seen.headers) == (403, False), path

    assert len(others) > len(at_the_desk) > 20
    assert contents(table) == before


@pytest.mark.parametrize("form", STANDS)
def test_the_address_of_a_form_leads_to_where_it_stands(editor: Browser, table: Table, form: str) -> None:
    before = contents(table)

    seen = editor.get(form)

    assert (seen.status, seen.location) == (303, STANDS[form])
    assert contents(table) == before
