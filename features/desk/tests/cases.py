"""The desk in tests of all features."""

from __future__ import annotations

from typing import Any

from features.desk import deal_form, deal_log, frame, matching, picked, posting
from shared import features
from shared.data import keys
from shared.dynamodb.table import Table
from shared.models.catalog import BRAND, CATEGORY, Deal, Topic
from tests.support.browsing import DEAL, Browser, filled, posted
from tests.support.commands import until
from tests.support.odd import Fields, Question, Ways
from tests.support.rights import ANY_READ, ANY_WRITE, SESSION
from tests.support.rights import DEAL as OF_DEAL
from tests.support.states import Budget, State

EDITORS_PAGES = (
    *("/desk", "/desk/deals/new", "/desk/deals", "/desk/front-page", "/desk/editors-choice", "/desk/categories/shoes"),
    "/desk/brands",
)
EDITORS_PAGES_OF_SOMETHING = tuple(
    f"/desk/deals/1{of}" for of in ("", "/end", "/withdraw", "/hot", "/hot/progress", "/log")
)
FORM_PAGES = {
    "/desk/deals/preview": "/desk/deals/new",
    "/desk/deals/12/preview": "/desk/deals/12",
    "/desk/deals/12/front-page": "/desk/deals/12",
}

EDITORS = {
    "desk": "/desk",
    "posting": "/desk/deals/new",
    "posting again": "/desk/deals/new?link={link}",
    "all deals": "/desk/deals",
    "a deal's form": "/desk/deals/{first.number}",
    "changes of a deal": "/desk/deals/{first.number}/log",
    "ending a deal": "/desk/deals/{first.number}/end",
    "withdrawing a deal": "/desk/deals/{first.number}/withdraw",
    "making hot": "/desk/deals/{first.number}/hot",
    "front page order": "/desk/front-page",
    "choice order": "/desk/editors-choice",
    "category order": "/desk/categories/{first.category}",
    "desk brands": "/desk/brands",
}
_DEAL_FORM = {name: f"{{typed[{name}]}}" for name in deal_form.FIELDS}
KNOWN_OF_DEAL = {"typed": deal_form.typed_of}
FORMS = {
    "preview": State("/desk/deals/preview", who="eddy", form=_DEAL_FORM | {"key": "a-key"}),
    # Another editor has changed the price, which this form leaves, and the title, which it changes.
    "two values": State(
        "/desk/deals/{first.number}",
        409,
        "eddy",
        _DEAL_FORM
        | {"title": "A title of mine", "price": "1.00"}
        | {f"{deal_form.READ}title": "As it was", f"{deal_form.READ}price": "1.00"},
    ),
    "list changed meanwhile": State("/desk/front-page", 409, "eddy", {"order": "1,2", "kept": "2,1", "do": "keep"}),
    "brand with a similar name": State("/desk/brands", 409, "eddy", {"name": "Harbour Good"}),
    "signed out meanwhile": State("/desk/deals", 403, form={"title": "A title of mine", "price": "1.00"}),
    "being told": State("/desk/deals/{being_told.number}/hot/progress", who="eddy"),
    "everyone is told": State("/desk/deals/{told.number}/hot/progress", who="eddy"),
    "hot of a deal that is over": State("/desk/deals/{ended.number}/hot", who="eddy"),
    "how far it is told": State("/desk/deals/{told.number}", who="eddy"),
    "403": State("/desk", 403, "ana"),
    "form of the longest title": State("/desk/deals/{longest.number}", who="eddy"),
    "end of the longest title": State("/desk/deals/{longest.number}/end", who="eddy"),
    "desk without deals": State("/desk", who="eddy", table="{bare.name}"),
    "no deals at the desk": State("/desk/deals", who="eddy", table="{bare.name}"),
}
# The desk has a style sheet and a script of its own, and shows some twenty deals with their forms.
BUDGETS = {"desk": Budget(22 * 1024, 49 * 1024, requests=10)}
BUDGETED = TABBED = ("desk",)
SHIFTED_OF_EDITORS = ("desk", "all deals")
IN_EDITORS_HEAD = ("Desk",)
PICTURED_OF_EDITORS = {"features/desk/desk": "/desk"}
ASKED = tuple(
    ("editor", path) for path in ("/desk", "/desk/deals/new", "/desk/deals/150", "/desk/brands", "/desk/deals")
)

ROOMS = {"desk": (deal_log, frame, matching, picked, posting, *features.modules("editing"))}
IMPORTS = {"desk": ("pydantic", "minijinja")}
IMPERSONAL = ("desk",)
SCAN_NAMES = ("desk",)
"""It says how many users a hot deal will be told to, and counts their names for it."""
_BRAND, _CATEGORY = keys.topic(Topic(BRAND, "g-fore"))["PK"], keys.topic(Topic(CATEGORY, "shoes"))["PK"]
RIGHTS = (
    (ANY_READ, OF_DEAL, "", "desk"),
    (ANY_WRITE, OF_DEAL, "", "desk"),
    (ANY_READ, SESSION, "", "desk"),
)
ATTRIBUTES = (
    *((OF_DEAL, name, "desk") for name in ("Price", "Link")),
    *((_BRAND, name, "desk") for name in ("Name", "WatchCount", "Day31")),
    (_CATEGORY, "Featured", "desk"),
)

TRACED = (
    *("/desk", "/desk/deals", "/desk/deals/new?link={link}", "/desk/deals/{number}", "/desk/deals/{number}/hot"),
    *("/desk/front-page", "/desk/categories/shoes", "/desk/brands"),
)


def _post(_editor: Browser, _table: Table, _deal: Deal) -> tuple[str, dict[str, str]]:
    return "/desk/deals", DEAL | {"key": "k"}


def _edit(editor: Browser, table: Table, _deal: Deal) -> tuple[str, dict[str, str]]:
    path = _posted(table)
    return path, filled(editor.get(path), price="9.5")


def _hot(_editor: Browser, table: Table, _deal: Deal) -> tuple[str, dict[str, str]]:
    return f"{_posted(table)}/hot", {}


def _withdraw(_editor: Browser, table: Table, _deal: Deal) -> tuple[str, dict[str, str]]:
    return f"{_posted(table)}/withdraw", {}


def _posted(table: Table) -> str:
    """The path of the form of the newest deal."""
    return f"/desk/deals/{posted(table)[0].number}"


TRACED_OF_EDITORS = {
    "post": (_post, [6 * 2 + 3], "put put put update update update"),  # deal, number, counts, form's key; three indexes
    "edit": (_edit, [2 + 3], "update"),
    "hot": (_hot, [2 + 3], "update"),
    "withdraw": (_withdraw, [4 * 2 + 3], "update update update update"),  # deal, three counts; it leaves three indexes
}


def at_the_desk(ways: Ways, fields: Fields, deal: Deal | None) -> Question | None:
    form = ways.browser.get(f"/desk/deals/{deal.number}" if deal else "/desk/deals/new?link=https://shop.example/1")
    path = f"/desk/deals/{deal.number}" if deal else "/desk/deals"
    typed = form.values() | {name: value.removesuffix("Z") for name, value in fields.items()}
    seen = ways.browser.post(path, typed)
    preview = ways.browser.post(f"{path}/preview", typed)
    assert ("Please confirm." in preview.words) is (seen.status == 409)
    if seen.status == 303:
        return None
    (asking,) = (
        each for each in seen.document.iter("form") if "confirm" in {i.get("name") for i in each.iter("input")}
    )
    kept = {each.get("name"): each.get("value") for each in asking.iter("input")}
    assert asking.get("action") == path
    assert ways.browser.post(path, {**kept, "confirm": ""}).status == 409
    return Question(seen.words, lambda: ways.browser.post(path, kept))


def _posting_in_firefox(tab: Any) -> None:
    """An editor posts a deal, which comes to a reader and is there after a reload."""
    tab.clicks("[data-as=editor]", outside=True)
    tab.shows(lambda path, _: path.startswith("/desk"))
    tab.goes("/desk/deals/new?link=https%3A%2F%2Fshop.example%2Ftab")
    for name, value in (("title", "Tab runner"), ("price", "31.90"), ("listPrice", "60"), ("brand", "pace-theory")):
        tab.types(f"main [name={name}]", value)
    tab.clicks("main [name=category] option[value=shoes]")
    tab.clicks("main form:has([name=title]) button")
    tab.shows(lambda path, _: "notice=posted" in path)

    tab.clicks("[data-as=member]", outside=True)
    tab.shows(lambda path, _: path.startswith("/my/inbox"))
    assert until(lambda: "Tab runner" in tab.goes("/my/inbox"))
    tab.reloads()
    tab.shows(lambda path, text: path.startswith("/my/inbox") and "Tab runner" in text)


IN_FIREFOX = (_posting_in_firefox,)

ASKS_IF_ODD = {"desk": at_the_desk}
