"""Pages in rarer states: forms that were refused, deals that are over, errors, tables that are empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from functions.pages.desk import deal_form
from shared import settings
from shared.data import item_types, keys
from shared.data.catalog import brands, deals, offers, search
from shared.data.members import rate_limits
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put_new
from shared.errors import AlreadyExists
from shared.models.catalog import Deal
from shared.settings import READ_FOR_CARDS, SIGN_IN_WINDOW
from shared.values import times
from tests.support.factories import a_deal
from tests.support.preview import Preview, entered

NAMES = (
    "preview", "two values", "list changed meanwhile", "brand with a similar name", "signed out meanwhile",
    "being told", "everybody is told", "hot of a deal that is over", "how far it is told", "400", "403", "404", "410",
    "429", "503", "ended deal", "brand without deals", "brand whose deals ended", "look further back",
    "sign in with errors", "sign up with errors", "address with errors", "checkout at another price",
    "feed's address", "alert with errors", "desk without deals", "no deals at the desk", "front page without deals",
)  # fmt: skip

BRAND, BRAND_NAME = "harbour-goods", "Harbour Goods"
EMPTY, ENDED = "tide-and-co", "slack-water"
GONE_WORD = "kelpie"
LOCAL = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class State:
    """How a page gets into a state: its address, who asks for it (nobody, if empty), and the form that they send.

    ``status`` is that of the answer. ``table`` is what the functions find instead of the site's own table.
    """

    path: str
    status: int = 200
    who: str = ""
    form: Mapping[str, str] | None = None
    table: Table | None = field(default=None, repr=False)


def prepared(site: Preview, bare: Table) -> dict[str, State]:
    """The states by name, on a site whose ``people`` are there. ``bare`` is a table without deals.

    What is written is days old and of brands of its own, so the pages of other tests stay as they are.
    """
    table, now = site.table, times.now()
    known, last = site.deals[40], site.deals[41]
    brands.create(table, BRAND, BRAND_NAME, now)
    brands.create(table, EMPTY, "Tide & Co", now)
    brands.create(table, ENDED, "Slack Water", now)
    ended, withdrawn, told, being_told = (_posted(table, now, number, BRAND) for number in range(4))
    deals.edit(table, ended.deal_id, {"ends_at": now}, now)
    deals.edit(table, withdrawn.deal_id, {"withdrawn_at": now}, now)
    for deal in (told, being_told):
        deals.make_hot(table, deal.deal_id, now)
    _tell(table, told, now)
    over = _posted(table, now, 4, ENDED)
    over = deals.edit(table, over.deal_id, {"ends_at": now}, now)
    offers.file(table, None, over, has_ended=True)
    _leave_words(table, now)
    _attempt(table, now)
    entered(replace(site, table=bare), "eddy", "editor")
    form = {name: text for name, text in deal_form.typed_of(known).items() if name in deal_form.FIELDS}
    found = {
        "preview": State("/desk/deals/preview", who="eddy", form=form | {"key": "a-key"}),
        # Another editor has changed the price, which this form leaves, and the title, which it changes.
        "two values": State(
            f"/desk/deals/{known.number}",
            409,
            "eddy",
            form
            | {"title": "A title of mine", "price": "1.00"}
            | {f"{deal_form.READ}title": "As it was", f"{deal_form.READ}price": "1.00"},
        ),
        "list changed meanwhile": State("/desk/front-page", 409, "eddy", {"order": "1,2", "kept": "2,1", "do": "keep"}),
        "brand with a similar name": State("/desk/brands", 409, "eddy", {"name": BRAND_NAME[:-1]}),
        "signed out meanwhile": State("/shop/addresses", 403, form={"name": "home", "city": "Portland"}),
        "being told": State(f"/desk/deals/{being_told.number}/hot/progress", who="eddy"),
        "everybody is told": State(f"/desk/deals/{told.number}/hot/progress", who="eddy"),
        "hot of a deal that is over": State(f"/desk/deals/{ended.number}/hot", who="eddy"),
        "how far it is told": State(f"/desk/deals/{told.number}", who="eddy"),
        "400": State("/deals?cursor=nonsense", 400),
        "403": State("/desk", 403, "ana"),
        "404": State(f"/brands/{BRAND[:-1]}", 404),
        "410": State(f"/deals/{withdrawn.number}", 410),
        "429": State("/account/sign-in", 429, form={"username": "hasty", "password": "a wrong password"}),
        "503": State("/brands/none", 503, table=replace(table, name="not-there")),
        "ended deal": State(f"/deals/{ended.number}"),
        "brand without deals": State(f"/brands/{EMPTY}"),
        "brand whose deals ended": State(f"/brands/{ENDED}"),
        "look further back": State(f"/search?q={GONE_WORD}"),
        "sign in with errors": State("/account/sign-in", 422, form={"username": "ana", "password": "a wrong password"}),
        "sign up with errors": State(
            "/account/sign-up", 422, form={"username": "-", "name": "", "email": "ana", "password": "short"}
        ),
        "address with errors": State("/shop/addresses", 422, "ana", {"name": "home", "country": "Switzerland"}),
        "checkout at another price": State(
            "/shop/checkout",
            409,
            "ana",
            {"items": f"{last.deal_id}*1*0.01*USD", "address": "x home", "totals": "USD=0.01", "key": "a-key"},
        ),
        "feed's address": State("/my/feed", who="ana", form={}),
        "alert with errors": State("/my/alerts", 422, "ana", {"words": "mens", "ceiling": "cheap"}),
        "desk without deals": State("/desk", who="eddy", table=bare),
        "no deals at the desk": State("/desk/deals", who="eddy", table=bare),
        "front page without deals": State("/?of=nothing", table=bare),
    }
    assert tuple(found) == NAMES
    return found


def _posted(table: Table, now: datetime, number: int, brand: str) -> Deal:
    """A deal of three days ago."""
    deal = a_deal(
        now - timedelta(days=3, minutes=number),
        title=f"Deck shoe {number}",
        link=f"https://shop.example/{brand}-{number}",
        brand=brand,
    )
    return deals.create(table, deal, now)


def _tell(table: Table, deal: Deal, now: datetime) -> None:
    """Leave what the worker leaves that has told everybody of a hot deal: no message, which would be in an inbox."""
    counted = {"Told": 1234, "Pages": 5, "LastPage": 5, "Segments": 1, "LastAt": times.to_iso(now)}
    item = {**keys.fan_out_segment(deal.deal_id, 0), "Type": item_types.FAN_OUT, **counted}
    table.write(put_new(item, refused=AlreadyExists()))


def _leave_words(table: Table, now: datetime) -> None:
    """Leave a word of more deals than one page of a search reads, all of them gone: the stream is slow to follow."""
    gone = [
        a_deal(now - timedelta(days=3, minutes=number), title=GONE_WORD, brand_name=GONE_WORD)
        for number in range(READ_FOR_CARDS + 1)
    ]
    table.gather([partial(search.file, table, None, deal) for deal in gone])


def _attempt(table: Table, now: datetime) -> None:
    """Try to sign in as often as one may, in the window of now and the next one, whichever the browser comes in."""
    for window in (now, now + SIGN_IN_WINDOW):
        for _ in range(settings.SIGN_INS_PER_USER):
            rate_limits.begin(table, "hasty", LOCAL, window)
