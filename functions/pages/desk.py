"""The editor's desk: posting deals, editing them, telling everybody, and ordering what readers see first.

A form for a new deal carries an idempotency key, so that sending it again by reloading posts nothing twice; a form for
a deal that exists carries the version it was read at, so that it takes back nothing that another editor wrote.
"""

from __future__ import annotations

import difflib
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from http import HTTPStatus
from typing import Any

from shared.api.bodies import DealChange, NewBrand, NewDeal
from shared.data.catalog import brands, clicks, deals, endings, featured, feeds, products
from shared.data.idempotency import Idempotency
from shared.data.members import fanout, users
from shared.errors import (
    BrandExists,
    DealTooLarge,
    EditedMeanwhile,
    IdempotencyKeyReused,
    InvalidName,
    NoSuchDeal,
    NoSuchDeals,
    NoSuchTopic,
    WrongFeaturedCount,
)
from shared.html import cookies, forms, pages, views
from shared.html.app import PageApp, Request
from shared.html.checking import check
from shared.html.forms import Fields, InvalidFields
from shared.html.pages import Answer
from shared.models.catalog import ALL_DEALS, Deal, Period, Status
from shared.models.members import Session
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import links, slugs
from shared.values.times import to_iso

SHOWN = 25
ENDING_DAYS = 2
HOT_FOR = timedelta(days=1)
"""How long the desk shows how far the telling of a hot deal has got."""

MOST_COUNTED = 1_000
"""Readers that the hot page counts: one page of their index. Of more it says that there are more."""

WRITES_PER_MESSAGE = 2
DOLLARS_PER_MILLION_WRITES = 0.625
"""A message is written to the table and to GSI1: https://aws.amazon.com/dynamodb/pricing/on-demand (docs/cost.md)."""

CURRENCIES = ("USD", "EUR", "GBP", "CHF", "CAD", "AUD", "JPY")

REQUIRED = ("link", "title", "price", "currency", "brand", "category")
OPTIONAL = ("listPrice", "couponCode", "expiresAt", "image", "description")
FIELDS = (*REQUIRED, *OPTIONAL)
"""The fields of a deal's form, named as in the API's bodies."""

NAMES = {
    "link": "Address at the shop",
    "title": "Title",
    "price": "Price",
    "listPrice": "List price",
    "currency": "Currency",
    "brand": "Brand",
    "category": "Category",
    "couponCode": "Coupon code",
    "expiresAt": "Ends",
    "image": "Picture",
    "description": "Description",
}

_WORDS = {
    "link": "An http or https address is needed.",
    "image": "An http or https address is needed.",
    "price": "A price is digits, a point and two digits: 31.90.",
    "listPrice": "A price is digits, a point and two digits: 31.90.",
    "currency": "Three capital letters, such as USD.",
    "expiresAt": "This is no day and time.",
}

_THOUSANDS = re.compile(r",(?=\d{3}(\D|$))")
_LOCAL_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?")

BOOKMARKLET = (
    "javascript:location='{desk}?link='+encodeURIComponent(location.href)"
    "+'&title='+encodeURIComponent((document.querySelector('h1')||{{}}).innerText||document.title)"
    "+'&image='+encodeURIComponent((document.querySelector('meta[property=\"og:image\"]')||{{}}).content||'')"
    "+'&price='+encodeURIComponent((document.querySelector('meta[property$=\"price:amount\"]')||{{}}).content||'')"
)
"""Dragged to a browser's bookmarks and pressed on a shop's page, it opens our form with what that page says."""

app = PageApp(forms.ours_only)


@dataclass(frozen=True, slots=True)
class List:
    """One list of picked deals that editors order: its path below the desk, its name, and how it is read and kept."""

    path: str
    name: str
    public: str
    read: Callable[[datetime], Sequence[Deal]]
    keep: Callable[[Sequence[str], datetime], object]
    hint: str


def _curated(page: CuratedPage, path: str, name: str, public: str) -> List:
    return List(
        path,
        name,
        public,
        lambda now: featured.read(table(), page, now),
        lambda ids, now: featured.set_featured(table(), page, ids, now),
        f"Up to {featured.MAX_FEATURED} deals; the first leads.",
    )


def _of_category(slug: str) -> List:
    topic = Topic(CATEGORY, slug)
    fewest, most = featured.CATEGORY_FEATURED
    return List(
        f"/desk/categories/{slug}",
        CATEGORIES[slug],
        f"/categories/{slug}",
        lambda now: featured.read(table(), topic, now),
        lambda ids, now: featured.set_category_featured(table(), slug, ids, now),
        f"{fewest} to {most} deals.",
    )


FRONT = _curated(FRONT_PAGE, "/desk/front-page", "Front page", "/")
CHOICE = _curated(EDITORS_CHOICE, "/desk/editors-choice", "Editors’ choice", "/editors-choice")  # noqa: RUF001  # as it is printed


@app.get("/desk")
def desk(request: Request) -> Answer:
    """Today: what was posted, with clicks; what ends; whom hot deals have reached."""
    _editor(request)
    now = request.now
    asked: list[Callable[[], Any]] = [
        partial(feeds.read, table(), ALL_DEALS, limit=SHOWN, now=now),
        partial(endings.upcoming, table(), now, days=ENDING_DAYS, most=10),
    ]
    newest, ending = table().gather(asked)
    ids = [deal.deal_id for deal in (*newest.items, *ending)]
    told = [deal for deal in newest.items if deal.hot_at is not None and now - deal.hot_at < HOT_FOR]
    asked = [partial(clicks.of, table(), ids), *(partial(fanout.progress, table(), deal.deal_id) for deal in told)]
    followed, *progress = table().gather(asked)
    return _page(
        "desk/today.html",
        request,
        posted=[_line(deal, now, followed) for deal in newest.items],
        ending=[_line(deal, now, followed) for deal in ending],
        told=[{**_line(deal, now, followed), **_told(each)} for deal, each in zip(told, progress, strict=True)],
        bookmarklet=BOOKMARKLET.format(desk=pages.absolute("/desk/deals/new")),
    )


@app.get("/desk/deals/new")
def new_deal(request: Request) -> Answer:
    """One field first, the shop's address; the rest unfolds filled in with what we know of the product and the shop."""
    _editor(request)
    asked = request.query
    link = asked.get("link", "").strip()
    given = {
        "link": link,
        "title": asked.get("title", ""),
        "price": asked.get("price", ""),
        "image": asked.get("image", ""),
    }
    given["listPrice"] = asked.get("list", "")
    typed = {name: value.strip() for name, value in given.items() if value.strip()}
    if not link:
        return _page("desk/link.html", request, typed=typed, errors={})
    if not links.host(link):
        return _page(
            "desk/link.html", request, HTTPStatus.UNPROCESSABLE_ENTITY, typed=typed, errors={"link": _WORDS["link"]}
        )
    offers = products.offers(table(), link)
    known = _known_of(link, offers, request.now)
    return _form_page(request, {**known, **typed}, offers=offers, key=secrets.token_urlsafe(18), guessed=bool(known))


@app.post("/desk/deals/preview")
def preview(request: Request) -> Answer:
    """The card and the page as they will be, and the form below. Nothing is written."""
    _editor(request)
    typed = forms.read(request.event)
    number = typed.get("number")
    deal = deals.find(table(), number) if number else None
    try:
        shown = _deal_of(typed, request.now, deal)
    except InvalidFields as error:
        return _form_page(request, typed, error.errors, deal=deal, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    return _form_page(request, typed, deal=deal, shown=shown)


@app.post("/desk/deals")
def post_deal(request: Request) -> Answer:
    session = _editor(request)
    typed = forms.read(request.event)
    body = {name: value for name, value in _cleaned(typed).items() if value}
    key = typed.get("key", "")
    try:
        new = check(NewDeal, body | {name: body.get(name, "") for name in REQUIRED}, _WORDS)
        deal = replace(new.to_deal(request.now, secrets.token_bytes(16)), correlation_id=request.correlation_id)
        once = Idempotency(session.username, key, body) if 0 < len(key) <= 64 else None
        deal = deals.create(table(), deal, request.now, idempotency=once)
    except InvalidFields as error:
        return _form_page(request, typed, error.errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except NoSuchTopic:
        return _no_such_brand(request, typed)
    except DealTooLarge as error:
        return _form_page(request, typed, {"description": str(error)}, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except IdempotencyKeyReused:
        again = {"link": "This form has posted a deal already, and was changed since. Post again if you mean another."}
        fresh = {**typed, "key": secrets.token_urlsafe(18)}
        return _form_page(request, fresh, again, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    if deal.correlation_id == request.correlation_id:  # else an earlier sending of this form posted it
        report(metrics.DEALS_POSTED)
    return pages.redirect(f"/desk/deals/{deal.number}", said="posted")


@app.get("/desk/deals/{number}")
def deal_form(request: Request, number: str) -> Answer:
    _editor(request)
    deal = _find(number)
    return _form_page(request, _typed(deal), deal=deal)


@app.post("/desk/deals/{number}")
def edit_deal(request: Request, number: str) -> Answer:
    _editor(request)
    typed = forms.read(request.event)
    deal = _find(number)
    version = typed.get("version", "")
    try:
        changes = _changes(typed, request.now)
        deals.edit(
            table(),
            deal.deal_id,
            changes,
            request.now,
            correlation_id=request.correlation_id,
            version=int(version) if version.isascii() and version.isdigit() else 0,
        )
    except InvalidFields as error:
        return _form_page(request, typed, error.errors, deal=deal, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except NoSuchTopic:
        return _no_such_brand(request, typed, deal)
    except DealTooLarge as error:
        errors = {"description": str(error)}
        return _form_page(request, typed, errors, deal=deal, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except EditedMeanwhile:
        now_is = deals.get(table(), deal.deal_id, consistent=True)
        return _form_page(
            request,
            {**typed, "version": str(now_is.version)},
            deal=now_is,
            status=HTTPStatus.CONFLICT,
            differing=_differing(_typed(now_is), _cleaned(typed)),
        )
    return pages.redirect(f"/desk/deals/{number}", said="edited")


@app.post("/desk/deals/{number}/withdraw")
def withdraw(request: Request, number: str) -> Answer:
    return _changed(request, number, "withdrawn", withdrawn_at=request.now)


@app.post("/desk/deals/{number}/restore")
def restore(request: Request, number: str) -> Answer:
    return _changed(request, number, "restored", withdrawn_at=None)


@app.post("/desk/deals/{number}/end")
def end(request: Request, number: str) -> Answer:
    return _changed(request, number, "ended", ends_at=request.now)


@app.get("/desk/deals/{number}/hot")
def hot_page(request: Request, number: str) -> Answer:
    """How many will be told and what it costs, before; how far it has got, afterwards."""
    _editor(request)
    deal = _find(number)
    if deal.hot_at is not None:
        return pages.redirect(f"/desk/deals/{number}/hot/progress")
    readers = users.count(table(), MOST_COUNTED)
    dollars = readers * WRITES_PER_MESSAGE * DOLLARS_PER_MILLION_WRITES / 1_000_000
    return _page(
        "desk/hot.html",
        request,
        d=views.card(deal, request.now),
        number=number,
        over=deal.status(request.now) is not Status.ACTIVE,
        readers=f"{readers:,}" if readers < MOST_COUNTED else f"more than {MOST_COUNTED:,}",
        units=f"{readers * WRITES_PER_MESSAGE:,}",
        dollars=f"{dollars:.4f}",
        at_least=readers >= MOST_COUNTED,
    )


@app.post("/desk/deals/{number}/hot")
def make_hot(request: Request, number: str) -> Answer:
    _editor(request)
    deal = _find(number)
    deals.make_hot(table(), deal.deal_id, request.now, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}/hot/progress", said="hot")


@app.get("/desk/deals/{number}/hot/progress")
def hot_progress(request: Request, number: str) -> Answer:
    _editor(request)
    deal = _find(number)
    if deal.hot_at is None:
        return pages.redirect(f"/desk/deals/{number}/hot")
    progress = _told(fanout.progress(table(), deal.deal_id))
    return _page(
        "desk/progress.html",
        request,
        more_headers=None if progress["finished"] else {"Refresh": "2"},
        d=views.card(deal, request.now),
        number=number,
        since=views.moment(deal.hot_at),
        **progress,
    )


@app.get("/desk/front-page")
def front_page(request: Request) -> Answer:
    return _order_page(request, FRONT)


@app.post("/desk/front-page")
def order_front_page(request: Request) -> Answer:
    return _ordered(request, FRONT)


@app.get("/desk/editors-choice")
def editors_choice(request: Request) -> Answer:
    return _order_page(request, CHOICE)


@app.post("/desk/editors-choice")
def order_editors_choice(request: Request) -> Answer:
    return _ordered(request, CHOICE)


@app.get("/desk/categories/{slug}")
def category(request: Request, slug: str) -> Answer:
    return _order_page(request, _category(slug))


@app.post("/desk/categories/{slug}")
def order_category(request: Request, slug: str) -> Answer:
    return _ordered(request, _category(slug))


@app.get("/desk/brands")
def brand_form(request: Request) -> Answer:
    _editor(request)
    return _brands_page(request, {"name": request.query.get("name", "")})


@app.post("/desk/brands")
def new_brand(request: Request) -> Answer:
    """A brand under a new name. Names that are near are shown first, and created only by who says so."""
    _editor(request)
    typed = forms.read(request.event)
    try:
        name = check(NewBrand, {"name": typed.get("name", "")}).name.strip()
        near = [] if typed.get("sure") == "1" else _near(name)
        if near:
            return _brands_page(request, typed, near=near, status=HTTPStatus.CONFLICT)
        slug = slugs.slug(name)
        brands.create(table(), slug, name, request.now)
    except InvalidFields as error:
        return _brands_page(request, typed, error.errors, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    except BrandExists:
        return _brands_page(request, typed, {"name": "This brand exists already."}, status=HTTPStatus.CONFLICT)
    return pages.redirect("/desk/brands", said="brand")


def _editor(request: Request) -> Session:
    """Who asks, if that is an editor. Raises NotSignedIn, Forbidden."""
    return cookies.editor_of(table(), request.event, request.now, "The desk is for editors.")


def _find(number: str) -> Deal:
    """A deal by its number, as it is at this moment. Raises NoSuchDeal."""
    return deals.get(table(), deals.find(table(), number).deal_id, consistent=True)


def _category(slug: str) -> List:
    if slug not in CATEGORIES:
        raise NoSuchTopic(CATEGORY.label, slug)
    return _of_category(slug)


def _page(template: str, request: Request, status: int = HTTPStatus.OK, **values: Any) -> Answer:
    return pages.page(
        template,
        status=status,
        here=request.path,
        said=request.query.get("said"),
        **values,
    )


def _form_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    deal: Deal | None = None,
    offers: Sequence[Deal] | None = None,
    status: int = HTTPStatus.OK,
    key: str | None = None,
    shown: Deal | None = None,
    guessed: bool = False,
    differing: Sequence[Mapping[str, str]] = (),
) -> Answer:
    """The form of a new deal or, with ``deal``, of one that exists; beside it what we know of the product."""
    now = request.now
    link = typed.get("link", "")
    if offers is None:
        offers = products.offers(table(), link) if links.host(link) else []
    others = [offer for offer in offers if deal is None or offer.deal_id != deal.deal_id]
    number = str(deal.number or deal.deal_id) if deal else ""
    return _page(
        "desk/deal.html",
        request,
        status,
        typed={name: typed.get(name, "") for name in FIELDS},
        errors=dict(errors or {}),
        number=number,
        key=key or typed.get("key", ""),
        version=typed.get("version") or (str(deal.version) if deal else ""),
        status_name=deal.status(now).value if deal else "",
        hot=bool(deal and deal.hot_at),
        title=deal.title if deal else "",
        stock=deal.stock.value.replace("-", " ") if deal and deal.stock else "",
        clicks=clicks.of(table(), [deal.deal_id])[deal.deal_id] if deal else 0,
        duplicates=[views.card(offer, now) for offer in others if offer.status(now) is Status.ACTIVE],
        earlier=[views.card(offer, now) for offer in others][:10],
        guessed=guessed,
        differing=differing,
        shown=views.card(shown, now) if shown else None,
        text=shown.description if shown else None,
        coupon=shown.coupon_code if shown else None,
        shop=links.host(shown.link) if shown else "",
        brand_names=_brand_names(),
        currencies={code: code for code in dict.fromkeys((typed.get("currency") or "USD", *CURRENCIES))},
    )


def _no_such_brand(request: Request, typed: Mapping[str, str], deal: Deal | None = None) -> Answer:
    name = typed.get("brand", "")
    near = _near(name)
    also = f" Near: {', '.join(near)}." if near else ""
    errors = {"brand": f"There is no brand of this name yet.{also} Create it on the page of brands first."}
    return _form_page(request, typed, errors, deal=deal, status=HTTPStatus.UNPROCESSABLE_ENTITY)


def _cleaned(typed: Mapping[str, str]) -> Fields:
    """What was typed, as the API's bodies want it: prices without symbols, times in UTC with their zone."""
    cleaned = {name: typed.get(name, "").strip() for name in FIELDS}
    for name in ("price", "listPrice"):
        cleaned[name] = _THOUSANDS.sub("", cleaned[name].lstrip("$£€¥ "))
    when = cleaned["expiresAt"]
    if _LOCAL_TIME.fullmatch(when):
        cleaned["expiresAt"] = f"{when}{'' if when.count(':') == 2 else ':00'}Z"
    cleaned["description"] = cleaned["description"].replace("\r\n", "\n")
    return cleaned


def _changes(typed: Mapping[str, str], now: datetime) -> dict[str, Any]:
    """What a whole form asks a deal to become. Raises InvalidFields."""
    cleaned = _cleaned(typed)
    body = {name: cleaned[name] if name in REQUIRED else cleaned[name] or None for name in FIELDS}
    return check(DealChange, body, _WORDS).changes(now)


def _deal_of(typed: Mapping[str, str], now: datetime, deal: Deal | None) -> Deal:
    """The deal that a form would make. Raises InvalidFields."""
    if deal is not None:
        shown = replace(deal, **_changes(typed, now))
    else:
        body = {name: value for name, value in _cleaned(typed).items() if value}
        new = check(NewDeal, body | {name: body.get(name, "") for name in REQUIRED}, _WORDS)
        shown = new.to_deal(now, bytes(16))
    return replace(shown, brand_name=brands.names(table()).get(shown.brand, typed.get("brand", "")))


def _typed(deal: Deal) -> Fields:
    """A deal as its form shows it."""
    return {
        "link": deal.link,
        "title": deal.title,
        "price": deal.price,
        "listPrice": deal.list_price or "",
        "currency": deal.currency,
        "brand": deal.brand_name,
        "category": deal.category,
        "couponCode": deal.coupon_code or "",
        "expiresAt": to_iso(deal.ends_at).removesuffix("Z") if deal.ends_at else "",
        "image": deal.image or "",
        "description": deal.description or "",
        "version": str(deal.version),
    }


def _differing(now_is: Mapping[str, str], typed: Mapping[str, str]) -> list[dict[str, str]]:
    """The fields in which a deal and a form differ, with both values."""
    found = []
    for name in FIELDS:
        theirs, ours = now_is[name], typed.get(name, "")
        same = slugs.slug(theirs) == _slug(ours) if name == "brand" else theirs == ours.removesuffix("Z")
        if not same:
            found.append({"name": NAMES[name], "theirs": theirs or "nothing", "ours": ours or "nothing"})
    return found


def _slug(name: str) -> str:
    try:
        return slugs.slug(name)
    except InvalidName:
        return ""


def _known_of(link: str, offers: Sequence[Deal], now: datetime) -> Fields:
    """What our own deals tell of a product, or else of its shop. Nothing is fetched from the shop."""
    if offers:
        last = _typed(offers[0])
        return {name: last[name] for name in ("title", "listPrice", "currency", "brand", "category", "image")}
    letters = re.sub(r"[^a-z0-9]", "", links.host(link).rpartition(".")[0])
    brand = next((slug for slug in brands.names(table()) if slug.replace("-", "") == letters), None)
    if brand is None:
        return {}
    newest = feeds.read(table(), feed_of(Topic(BRAND, brand)), limit=1, now=now).items
    known = {"brand": brands.names(table())[brand]}
    return known | ({"category": newest[0].category, "currency": newest[0].currency} if newest else {})


def _brand_names() -> list[str]:
    """Names to complete a brand from; of a great many none, for a page would be nothing but names."""
    names = list(brands.names(table()).values())
    return names if len(names) <= 500 else []


def _near(name: str) -> list[str]:
    """Names of brands that are written almost like this one, the one itself included where it is there."""
    known = brands.names(table())
    asked = _slug(name)
    near = difflib.get_close_matches(asked, known, n=5, cutoff=0.75)
    begins = [slug for slug in known if asked and (slug.startswith(f"{asked}-") or asked.startswith(f"{slug}-"))]
    return [known[slug] for slug in dict.fromkeys((*near, *begins)) if slug != asked][:5]


def _brands_page(
    request: Request,
    typed: Mapping[str, str],
    errors: Mapping[str, str] | None = None,
    *,
    near: Sequence[str] = (),
    status: int = HTTPStatus.OK,
) -> Answer:
    known = brands.names(table())
    return _page(
        "desk/brands.html",
        request,
        status,
        typed={"name": typed.get("name", "")},
        errors=dict(errors or {}),
        near=list(near),
        names=[{"slug": slug, "name": name} for slug, name in known.items()],
    )


def _changed(request: Request, number: str, said: str, **changes: Any) -> Answer:
    _editor(request)
    deal = _find(number)
    deals.edit(table(), deal.deal_id, changes, request.now, correlation_id=request.correlation_id)
    return pages.redirect(f"/desk/deals/{number}", said=said)


def _order_page(
    request: Request,
    ordered: List,
    picked: Sequence[Deal] | None = None,
    errors: Mapping[str, str] | None = None,
    typed: str = "",
) -> Answer:
    _editor(request)
    now = request.now
    shown = ordered.read(now) if picked is None else picked
    followed = clicks.of(table(), [deal.deal_id for deal in shown])
    return _page(
        "desk/order.html",
        request,
        HTTPStatus.UNPROCESSABLE_ENTITY if errors else HTTPStatus.OK,
        path=ordered.path,
        name=ordered.name,
        public=ordered.public,
        hint=ordered.hint,
        rows=[_line(deal, now, followed) for deal in shown],
        before=",".join(str(deal.number) for deal in shown),
        errors=dict(errors or {}),
        typed={"add": typed},
        lists=[{"path": FRONT.path, "name": FRONT.name}, {"path": CHOICE.path, "name": CHOICE.name}]
        + [{"path": f"/desk/categories/{slug}", "name": name} for slug, name in CATEGORIES.items()],
    )


def _ordered(request: Request, ordered: List) -> Answer:
    """Do what a button says to a list: ``up:12``, ``down:12``, ``out:12``, ``add``, or ``keep`` for a dragged order.

    The form carries the whole order, so that a list of five can be made of one that a category refuses for being short.
    """
    _editor(request)
    typed = forms.read(request.event)
    numbers = [each for each in typed.get("order", "").split(",") if each]
    action, _, which = typed.get("do", "keep").partition(":")
    if action == "add":
        which = re.sub(r"[^0-9A-Za-z]", "", typed.get("add", ""))
        numbers = [*numbers, which] if which else numbers
    numbers = _moved(numbers, action, which)
    try:
        picked = [deals.find(table(), number) for number in numbers]
    except NoSuchDeal:
        errors = {"add": f"There is no deal with the number {which}."}
        return _order_page(request, ordered, _those_there(numbers), errors, which)
    over = [deal for deal in picked if deal.status(request.now) is not Status.ACTIVE]
    if action == "add" and over:
        errors = {"add": "This deal has ended or was withdrawn."}
        return _order_page(request, ordered, [deal for deal in picked if deal not in over], errors, which)
    try:
        ordered.keep([deal.deal_id for deal in picked], request.now)
    except (WrongFeaturedCount, NoSuchDeals) as error:
        return _order_page(request, ordered, _once(picked), {"add": str(error)}, which if action == "add" else "")
    return pages.redirect(ordered.path, said="ordered")


def _moved(numbers: Sequence[str], action: str, which: str) -> list[str]:
    """An order after one deal was moved up or down by one, or taken out."""
    order = list(numbers)
    if which not in order or action not in ("up", "down", "out"):
        return order
    place = order.index(which)
    order.pop(place)
    if action != "out":
        order.insert(max(0, place - 1) if action == "up" else place + 1, which)
    return order


def _those_there(numbers: Sequence[str]) -> list[Deal]:
    found = []
    for number in numbers:
        try:
            found.append(deals.find(table(), number))
        except NoSuchDeal:
            continue
    return _once(found)


def _once(picked: Sequence[Deal]) -> list[Deal]:
    return list({deal.deal_id: deal for deal in picked}.values())


def _line(deal: Deal, now: datetime, followed: Mapping[str, int]) -> dict[str, Any]:
    return {**views.card(deal, now, width=128), "clicks": followed.get(deal.deal_id, 0)}


def _told(progress: fanout.Progress) -> dict[str, Any]:
    return {"reached": f"{progress.told:,}", "finished": progress.finished}


handler = app.handler
