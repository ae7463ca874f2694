"""All pages of someone who is signed in, and all forms: who may open them, and from where they may be sent."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlencode

import pytest

from shared import features, hooks
from shared.dynamodb.table import Table
from tests.signed_in.conftest import MODULES, PostDeal, entered
from tests.support.browsing import Browser
from tests.support.cases import cases, cases_by_name

OF_MEMBERS = [
    "/my/inbox", "/my/inbox?unread=yes", "/my/watches", "/account", "/account/remove", *cases("MEMBERS_PAGES"),
    *(f"/my/inbox?{name}=x" for name in ("path", "next", "template", "status", "cookies", "fragment")),
]  # fmt: skip
"""Pages of one's own; a query's names are also those of our functions' arguments."""

OF_EDITORS = [*cases("EDITORS_PAGES"), *cases("EDITORS_PAGES_OF_SOMETHING")]

_MODULES = [*MODULES.values(), *(each for package in MODULES.values() for each in vars(package).values())]
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
    **cases_by_name("FORM_PAGES"),
    **dict.fromkeys(
        (f"/account/{of}" for of in ("name", "email", "password", "sign-out", "sign-out-everywhere")), "/account"
    ),
}
"""Forms whose address shows no page by itself, and the page that each stands on."""


def contents(table: Table) -> list[Any]:
    return sorted(table.scan()[0], key=lambda item: (item["PK"], item["SK"]))


def test_a_visitor_is_led_to_sign_in_and_back(anyone: Browser) -> None:
    for path in (*OF_MEMBERS, *OF_EDITORS):
        seen = anyone.get(path)

        assert (seen.status, seen.location) == (303, f"/account/sign-in?{urlencode({'next': path})}")


def test_forms_for_editors_or_from_elsewhere_do_nothing(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    """All that a browser may say of where a form is from is in ``tests/html/test_views.py``."""
    assert post_deal().number == 1
    eddy = entered(table, "eddy", "editor")
    eddy.fetch_site = "cross-site"
    before = contents(table)

    starts = tuple(path for each in features.roles(hooks.Navigation) for path, _ in each.TABS.get("editors", ()))
    for_editors = [path for path in FORMS if path.startswith(starts)]
    signed = [path for each in features.roles(hooks.Navigation) for path in each.SIGNED_PATHS]
    others = [path for path in FORMS if path not in signed]
    for who, paths in ((ana, for_editors), (eddy, others)):
        for path in paths:
            seen = who.post(path, {"name": "Nike", "add": "1", "do": "add", "on": "1", "deal": "1", "pieces": "1"})
            assert (seen.status, "Set-Cookie" in seen.headers) == (403, False), path

    assert len(others) > len(for_editors) > 10 * len(starts) - 1
    assert contents(table) == before


@pytest.mark.parametrize("form", STANDS)
def test_the_address_of_a_form_leads_to_where_it_stands(editor: Browser, table: Table, form: str) -> None:
    before = contents(table)

    seen = editor.get(form)

    assert (seen.status, seen.location) == (303, STANDS[form])
    assert contents(table) == before
