"""What anyone may read in a browser: front page, deals, categories, brands, search, feeds, and what crawlers ask for.

These pages are one and the same for everybody: this function reads no cookie and cannot write.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from http import HTTPStatus
from itertools import accumulate
from typing import Any

from shared import settings
from shared.data.catalog import (
    brands,
    deal_pages,
    deals,
    endings,
    feed_counts,
    feeds,
    offers,
    page_cache,
    picks,
    search,
    topics,
)
from shared.data.catalog.page_cache import EDITORS_CHOICE_PICKS, FRONT_PAGE_PICKS, HTML, NEWEST
from shared.dynamodb import cursors
from shared.errors import InvalidName, NoSuchTopic, NotFound
from shared.html import assets, fragments, headers, pages, views
from shared.html.app import Routes, serve
from shared.html.links import absolute, base, link, origin
from shared.html.pages import Answer
from shared.html.request import Request
from shared.html.templates import render
from shared.http import cached_pages, statuses
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORIES,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CountedTopic,
    Deal,
    Feed,
    Period,
    Status,
    Topic,
    feed_of,
)
from shared.runtime.environment import table
from shared.values import ksuids, links, slugs
from shared.values.counts import counted
from shared.values.money import cents
from shared.values.times import to_iso

READ = settings.READ_FOR_CARDS

OLDER = 50
"""Deals of a page further back, all of them shown."""

MATCHES = 24
"""Cards of a page of a search, each for deals of one product at one price: whole rows of six, four, three or two."""

SIBLINGS = 6
ENDING_DAYS = 7
MOST_ENDING = 100
MOST_ENDED = 24

MOST_MAPPED = 20_000
"""Deals of a month's sitemap, the newest: no more than fit an answer of Lambda's, which is 6 MB at most.

https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

COLOURS = 12
LOWEST_OF = timedelta(days=60)

ATOM = "application/atom+xml; charset=utf-8"
JSON_FEED = "application/feed+json; charset=utf-8"
XML = "application/xml; charset=utf-8"

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document holds (https://www.w3.org/TR/xml/#charsets)."""

_MONTH = re.compile(r"[0-9]{4}-[0-9]{2}")

routes = Routes()


@routes.get("/")
def front_page(request: Request) -> Answer:
    now = request.now
    picked, newest = cached_pages.read([FRONT_PAGE_PICKS, NEWEST], now, HTML)
    featured = picked.picks if picked else fragments.picks(picks.read(table(), FRONT_PAGE, now), now, front=True)
    latest = (newest.latest if newest else _latest(ALL_DEALS, now)) or ""
    if not featured:
        latest = fragments.enlarge_first_card(latest)
    return _public(
        "front.html",
        request,
        picks=fragments.placed(featured or ""),
        latest=fragments.placed(latest),
        description="Deals picked by hand, all of them by day, by brand and by category.",
        feed=_feeds("/feed"),
    )


@routes.get("/deals")
def latest_deals(request: Request) -> Answer:
    cursor, now = _cursor(request), request.now
    if cursor is None:
        (newest,) = cached_pages.read([NEWEST], now, HTML)
        latest = (newest.latest if newest else None) or _latest(ALL_DEALS, now)
    else:
        latest = _older(ALL_DEALS, now, cursor)
    return _public(
        "latest.html",
        request,
        latest=fragments.placed(latest),
        first=cursor is None,
        description="All deals by day, the newest first.",
        feed=_feeds("/feed"),
        robots=None if cursor is None else "noindex, follow",
    )


@routes.get("/deals/<number>")
def one_deal(request: Request, number: str) -> Answer:
    if ksuids.is_ksuid(number) and (named := deals.get(table(), number).number) is not None:
        return _moved(f"/deals/{named}")
    found = deal_pages.read(table(), number, request.now)
    deal, now, status = found.deal, request.now, found.deal.status(request.now)
    if deal.number is not None and number != str(deal.number):
        return _moved(f"/deals/{deal.number}")
    others = [each for each in found.offers if each.deal_id != deal.deal_id and each.status(now) is Status.ACTIVE]
    active = [each for each in found.of_brand if each.status(now) is Status.ACTIVE]
    siblings = [each for each in active if links.product(each.link) != links.product(deal.link)]
    return _public(
        "deal.html",
        request,
        status=HTTPStatus.GONE if status is Status.WITHDRAWN else HTTPStatus.OK,
        followed=views.number(deal),
        d=views.card(deal, now, width=720),
        shop=links.host(deal.link),
        posted=views.moment(deal.created_at),
        ends_at=views.moment(deal.ends_at) if deal.ends_at else None,
        ended=views.day(deal.ends_at, now) if status is Status.EXPIRED and deal.ends_at else None,
        status_name=status.value,
        coupon=deal.coupon_code,
        stock=deal.stock.value if deal.stock else None,
        text=deal.description,
        history=_history(deal, found.offers),
        others=[views.card(each, now) for each in others[:COLOURS]],  # each colour has a page of its own
        siblings=views.cards(siblings, now, most=SIBLINGS),
        document=_json_in_html(_as_product(deal, now)),
        description=_summary(deal),
        robots=None if status is Status.ACTIVE else "noindex",
    )


@routes.get("/ending")
def ending(request: Request) -> Answer:
    found = endings.upcoming(table(), request.now, days=ENDING_DAYS, most=MOST_ENDING)
    days: dict[date, list[Deal]] = {}
    for deal in found:
        days.setdefault((deal.ends_at or request.now).date(), []).append(deal)
    sections = [
        {
            "name": views.long_day(day),
            "remark": "today" if day == request.now.date() else "",
            "cards": views.cards(of, request.now),
        }
        for day, of in days.items()
    ]
    description = f"Deals that end within {ENDING_DAYS} days, by their last day."
    return _public("ending.html", request, days=sections, description=description)


@routes.get("/editors-choice")
def editors_choice(request: Request) -> Answer:
    (picked,) = cached_pages.read([EDITORS_CHOICE_PICKS], request.now, HTML)
    found = picked.picks if picked else None
    if found is None:
        found = fragments.picks(picks.read(table(), EDITORS_CHOICE, request.now), request.now, front=False)
    description = "The deals that our editors would buy themselves."
    return _public("choice.html", request, picks=fragments.placed(found), description=description)


@routes.get("/categories/<category>")
def category_page(request: Request, category: str) -> Answer:
    topic, now = Topic(CATEGORY, category.lower()), request.now
    if topic.slug not in CATEGORIES:
        return pages.problem_page(HTTPStatus.NOT_FOUND, "There is no such category. These are all eight.", public=True)
    if category != topic.slug:
        return _moved(f"/categories/{topic.slug}")
    cursor = _cursor(request)
    if cursor is not None:
        return _older_of_topic(request, topic, cursor)
    found, copy = cached_pages.read_category(topic, now, HTML)
    if copy is not None:
        featured, latest = copy.picks, copy.latest
    else:
        found = topics.get(table(), topic)
        featured = fragments.picks(picks.read(table(), topic, now), now, front=False)
        latest = _latest(feed_of(topic), now)
    return _of_topic(request, found, latest or "", featured or "")


@routes.get("/brands")
def all_brands(request: Request) -> Answer:
    names = brands.names(table())
    letters: dict[str, list[tuple[str, str]]] = {}
    for slug, name in sorted(names.items()):
        letters.setdefault(slug[0].upper() if slug[0].isalpha() else "0-9", []).append((slug, name))
    groups = [{"letter": letter, "id": "l-" + letter[0].lower(), "names": of} for letter, of in letters.items()]
    description = f"All {len(names):,} brands from A to Z, each with its deals." if names else "All brands."
    return _public("brands.html", request, groups=groups, count=len(names), description=description)


@routes.get("/brands/<brand>")
def brand_page(request: Request, brand: str) -> Answer:
    cursor = _cursor(request)
    try:
        topic = _brand(brand)
        if brand != topic.slug:
            topics.get(table(), topic)
            return _moved(f"/brands/{topic.slug}")
        if cursor is not None:
            return _older_of_topic(request, topic, cursor)
        found, held = feeds.opened(table(), topic)
    except NotFound:
        return _no_brand(brand)
    latest = _latest(feed_of(topic), request.now, held)
    return _of_topic(request, found, latest, deals=sum(held[0].values()))


@routes.get("/search")
def search_page(request: Request) -> Answer:
    typed, cursor = request.query.get("q", "").strip(), _cursor(request)
    wanted, query = search.asked(typed), typed[: search.MOST_CHARACTERS]
    found, active = _searched(wanted, cursor, request.now)
    shown = active[: views.first_groups(active, MATCHES, under_days=False)]
    # Where not all that was found is shown, the next page begins with the rest.
    more = cursors.encode(wanted.scope, shown[-1].deal_id) if len(shown) < len(active) else found.next
    near_brands = [] if shown or not wanted.words else _brands_like(wanted.words[0])
    return _public(
        "search.html",
        request,
        query=query,
        asked=bool(wanted.words),
        cut=wanted.cut,
        cards=views.cards(shown, request.now),
        near=found.near,
        near_brands=near_brands,
        next=more,
        first=cursor is None,
        feed=_feeds("/feed", q=query) if wanted.words else None,
        description="Search all deals by the words of their titles and brands.",
        robots="noindex, follow",
    )


@routes.get("/feed.atom", "/feed.json")
def feed(request: Request) -> Answer:
    typed = request.query.get("q", "").strip()
    if typed:
        _, shown = _searched(search.asked(typed), None, request.now)
        return _feed(request, f"{typed} · Big Time Deals", "/search", shown, q=typed)
    latest = feeds.read(table(), ALL_DEALS, limit=OLDER, now=request.now)
    return _feed(request, "Big Time Deals", "/", latest.items)


@routes.get("/brands/<name>/feed.atom", "/brands/<name>/feed.json")
def brand_feed(request: Request, name: str) -> Answer:
    try:
        topic = _brand(name)
        found, held = feeds.opened(table(), topic)
    except NotFound as error:
        return _no_feed(request, error)
    return _topic_feed(request, topic, name, found.name, held)


@routes.get("/categories/<name>/feed.atom", "/categories/<name>/feed.json")
def category_feed(request: Request, name: str) -> Answer:
    topic = Topic(CATEGORY, name.lower())
    if topic.slug not in CATEGORIES:
        return _no_feed(request, NoSuchTopic(CATEGORY.label, name[:100]))
    return _topic_feed(request, topic, name, CATEGORIES[topic.slug])


@routes.get("/sitemap.xml")
def sitemap(_request: Request) -> Answer:
    months = sorted(
        {day[:7] for day, count in feed_counts.counts(table(), ALL_DEALS).items() if count > 0}, reverse=True
    )
    return _machine(render("sitemap-index.xml", months=months), XML)


@routes.get("/sitemap-<month>.xml")
def sitemap_of_month(_request: Request, month: str) -> Answer:
    if not _MONTH.fullmatch(month):
        raise NotFound("This is no month.")
    counts = feed_counts.counts(table(), ALL_DEALS, most=1, until=f"{month}-31")
    days = sorted((day for day, count in counts.items() if day[:7] == month and count > 0), reverse=True)
    if not days:
        raise NotFound("No deals of that month are listed.")
    newer = accumulate((counts[day] for day in days), initial=0)
    newest = [day for day, deals_before in zip(days, newer, strict=False) if deals_before < MOST_MAPPED]
    found = feeds.of_periods(table(), ALL_DEALS, newest, most=MOST_MAPPED)
    listed = [(views.number(deal), to_iso(deal.created_at)) for deal in found[:MOST_MAPPED]]
    return _machine(render("sitemap.xml", deals=listed), XML)


@routes.get("/robots.txt")
def robots(_request: Request) -> Answer:
    lines = [
        "User-agent: *",
        *(f"Disallow: {link(path)}" for path in ("/my/", "/account", "/desk", "/shop/", "/go/")),
    ]
    if origin():
        lines.append(f"Sitemap: {absolute('/sitemap.xml')}")
    return _machine("\n".join(lines) + "\n", "text/plain; charset=utf-8")


@routes.get("/about")
def about(request: Request) -> Answer:
    return _public("about.html", request, description="What Big Time Deals is, and how to follow it.")


@routes.get("/site.webmanifest")
def manifest(_request: Request) -> Answer:
    icon = {"src": f"{base()}/assets/{assets.served_name('mark.svg')}", "sizes": "any", "type": "image/svg+xml"}
    document = {
        "name": "Big Time Deals",
        "short_name": "Deals",
        "start_url": link("/"),
        "display": "minimal-ui",
        "background_color": "#f6f2e9",
        "theme_color": "#16140f",
        "icons": [icon],
    }
    return _machine(json.dumps(document), "application/manifest+json")


@routes.get("/opensearch.xml")
def opensearch(_request: Request) -> Answer:
    return _machine(render("opensearch.xml"), "application/opensearchdescription+xml")


@routes.get("/assets/<name>")
def asset(_request: Request, name: str) -> Answer:
    found = assets.find(name)
    if found is None:
        raise NotFound("There is no such file.")
    content, media_type = found
    # Text goes out as text: without Accept, the gateway would send bytes in base64.
    body = content if media_type.startswith("font/") else content.decode()
    return Answer(body, media_type=media_type, cache=headers.IMMUTABLE)


handler = serve(routes, public=True)


def _public(template: str, request: Request, **values: Any) -> Answer:
    """A page that is the same for everybody."""
    if _cursor(request) or "q" in request.query:
        values["canonical"] = None
    return pages.page(template, cache=headers.PUBLIC, here=request.path, said=request.query.get("said"), **values)


def _cursor(request: Request) -> str | None:
    """Where the page begins that is asked for; an empty cursor is none."""
    return request.query.get("cursor") or None


def _feeds(path: str, **query: str) -> dict[str, str]:
    """The addresses of a list's feed, by format."""
    return {"atom": link(f"{path}.atom", **query), "json": link(f"{path}.json", **query)}


def _machine(text: str, media_type: str) -> Answer:
    return Answer(text, media_type=media_type, cache=headers.FOR_A_DAY)


def _moved(path: str, status: int = HTTPStatus.MOVED_PERMANENTLY) -> Answer:
    return Answer("", status=status, cache=headers.FOR_A_DAY, headers={"Location": link(path)})


def _latest(feed: Feed, now: datetime, held: feeds.Held | None = None) -> str:
    """The newest page of a feed, made from the indexes."""
    # Of as many days as the page can show.
    counts = held[0] if held else feed_counts.counts(table(), feed, most=settings.READ_FOR_CARDS)
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, held=held)
    shown = page_cache.first(page, feed, views.first_groups(page.items, fragments.GROUPS))
    return fragments.latest(shown, feed, now, counts, shown.next)


def _older(feed: Feed, now: datetime, cursor: str) -> str:
    """A page of a feed further back. Raises InvalidCursor, NoSuchTopic."""
    page = feeds.read(table(), feed, limit=OLDER, now=now, cursor=cursor)
    sections = views.by_month(page.items, now) if feed.period is Period.MONTH else views.by_day(page.items, now, {})
    return render(
        "parts/latest.html", prefix="", days=sections, next=page.next, path=fragments.path_of(feed), first=False
    )


def _brand(name: str) -> Topic:
    try:
        return Topic(BRAND, slugs.slug(name))
    except InvalidName as error:
        raise NotFound("There is no such brand.") from error


def _no_brand(name: str) -> Answer:
    near = _brands_like(name)
    detail = f"There is no brand “{name[:100]}”."
    return pages.problem_page(HTTPStatus.NOT_FOUND, detail, public=True, names=near)


def _brands_like(name: str) -> list[tuple[str, str]]:
    """Brands whose slug begins with a name, or is nearly that."""
    known = brands.names(table())
    wanted = "-".join(search.in_text(name))
    begin = [slug for slug in known if wanted and slug.startswith(wanted)]
    near = difflib.get_close_matches(wanted, known, n=6, cutoff=0.7) if wanted else []
    return [(slug, known[slug]) for slug in dict.fromkeys([*begin[:6], *near])][:8]


def _older_of_topic(request: Request, topic: Topic, cursor: str) -> Answer:
    """A page of a topic's deals further back, asked for together with its name. Raises NoSuchTopic, InvalidCursor."""
    asked: list[Callable[[], Any]] = [
        partial(topics.get, table(), topic),
        partial(_older, feed_of(topic), request.now, cursor),
    ]
    found, latest = table().gather(asked)
    return _of_topic(request, found, latest, first=False)


def _of_topic(
    request: Request, found: CountedTopic, latest: str, picks: str = "", *, deals: int = 0, first: bool = True
) -> Answer:
    """The page of a brand or a category; ``deals`` is how many it has now, where that is known.

    Where it has none, it shows the last ones that ended.
    """
    something = "<section>" in latest or not first
    over = [] if something else offers.ended(table(), found.topic, MOST_ENDED)
    path = fragments.path_of(feed_of(found.topic))
    counts = [
        *([f"{counted(deals, 'deal')} now"] if deals else []),
        *([f"{found.likes:,} {'likes' if found.likes == 1 else 'like'} it"] if found.likes else []),
        *([f"{found.watchers:,} {'watches' if found.watchers == 1 else 'watch'} it"] if found.watchers else []),
    ]
    return _public(
        "topic.html",
        request,
        name=found.name,
        kind=found.topic.kind.label,
        slug=found.topic.slug,
        counts=counts,
        picks=fragments.placed(picks),
        latest=fragments.placed(latest),
        any=something,
        ended=views.cards((deal for deal in over if deal.status(request.now) is Status.EXPIRED), request.now),
        first=first,
        feed=_feeds(f"{path}/feed"),
        robots=None if first else "noindex, follow",
        description=f"Deals of {found.name}, the newest first.",
    )


def _searched(wanted: search.Search, cursor: str | None, now: datetime) -> tuple[search.Found, list[Deal]]:
    found = search.find(table(), wanted, limit=READ, cursor=cursor)
    active = [deal for deal in deals.get_many(table(), found.deal_ids) if deal.status(now) is Status.ACTIVE]
    return found, active


def _history(deal: Deal, earlier: Sequence[Deal]) -> dict[str, Any] | None:
    """Earlier prices of a deal's product: a row for each day, and the points of a line. A withdrawn price is none."""
    if deal.withdrawn_at is not None:
        return None
    lowest: dict[date, Deal] = {}
    for each in (offer for offer in earlier if offer.withdrawn_at is None):
        day = each.created_at.date()
        if each.currency == deal.currency and (day not in lowest or _amount(each) < _amount(lowest[day])):
            lowest[day] = each
    lowest[deal.created_at.date()] = min([deal, lowest.get(deal.created_at.date(), deal)], key=_amount)
    if len(lowest) < 2:
        return None
    days = sorted(lowest)
    cheapest = offers.lowest_since(list(lowest.values()), deal.created_at - LOWEST_OF)
    is_lowest = cheapest is None or _amount(cheapest) >= _amount(deal)
    return {
        "remark": "Lowest in 60 days" if is_lowest else "",
        "rows": [
            {
                "day": f"{views.day(day)} {day.year}",
                "price": views.money(lowest[day].price, deal.currency),
                "off": lowest[day].discount_percent,
            }
            for day in reversed(days)
        ],
        "line": _line([(day, _amount(lowest[day])) for day in days]),
        "least": views.money(min(lowest.values(), key=_amount).price, deal.currency),
        "most": views.money(max(lowest.values(), key=_amount).price, deal.currency),
    }


def _amount(deal: Deal) -> int:
    return cents(deal.price)


def _line(points: Sequence[tuple[date, int]]) -> dict[str, Any]:
    """A step line of prices over days, in a box of 600 by 120."""
    first, last = points[0][0], points[-1][0]
    span = max(1, (last - first).days)
    low, high = min(amount for _, amount in points), max(amount for _, amount in points)
    places = [
        (
            round(10 + 580 * (day - first).days / span),
            round(110 - 100 * (amount - low) / (high - low)) if high > low else 60,
        )
        for day, amount in points
    ]
    steps = f"M{places[0][0]} {places[0][1]}" + "".join(f"H{x}V{y}" for x, y in places[1:])
    return {"path": steps, "points": places}


def _as_product(deal: Deal, now: datetime) -> dict[str, Any]:
    """A deal as search engines read it (https://schema.org/Product)."""
    offer: dict[str, Any] = {
        "@type": "Offer",
        "url": absolute(f"/deals/{views.number(deal)}"),
        "price": deal.price,
        "priceCurrency": deal.currency,
        "availability": f"https://schema.org/{'InStock' if deal.status(now) is Status.ACTIVE else 'Discontinued'}",
    }
    if deal.ends_at:
        offer["priceValidUntil"] = deal.ends_at.date().isoformat()
    return {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": deal.title,
        "brand": {"@type": "Brand", "name": deal.brand_name},
        "category": CATEGORIES.get(deal.category, deal.category),
        **({"image": deal.image} if deal.image else {}),
        "offers": offer,
    }


def _json_in_html(document: Mapping[str, Any]) -> str:
    """JSON that may stand in a script element: nothing in it ends the element."""
    text = json.dumps(document, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _summary(deal: Deal) -> str:
    list_price = views.list_price(deal)
    before = f", was {list_price}" if list_price else ""
    return f"{deal.brand_name}: {deal.title} for {views.money(deal.price, deal.currency)}{before}."[:300]


def _topic_feed(request: Request, topic: Topic, typed: str, name: str, held: feeds.Held | None = None) -> Answer:
    """The feed of a brand or a category that exists; where something else than its slug was typed, the way there."""
    path = fragments.path_of(feed_of(topic))
    if typed != topic.slug:
        return _moved(f"{path}/{request.path.rpartition('/')[2]}")
    latest = feeds.read(table(), feed_of(topic), limit=OLDER, now=request.now, held=held)
    return _feed(request, f"{name} · Big Time Deals", path, latest.items)


def _no_feed(request: Request, error: NotFound) -> Answer:
    """The answer for an unknown feed, readable by machines: https://www.rfc-editor.org/rfc/rfc9457, also in XML
    (appendix B)."""
    status = HTTPStatus.NOT_FOUND
    if request.path.endswith(".json"):
        problem = statuses.document(status, str(error))
        return Answer(json.dumps(problem), status=status, media_type=statuses.MEDIA_TYPE, cache=headers.PUBLIC)
    text = render("problem.xml", **statuses.document(status, _xml(str(error))))
    return Answer(text, status=status, media_type="application/problem+xml", cache=headers.PUBLIC)


def _feed(request: Request, title: str, path: str, found: Sequence[Deal], **query: str) -> Answer:
    """A list as a feed, in the format that its address ends with."""
    home, own = absolute(path, **query), absolute(request.path, **query)
    if request.path.endswith(".json"):
        return Answer(
            json.dumps(_json_feed(title, home, own, found), ensure_ascii=False),
            media_type=JSON_FEED,
            cache=headers.PUBLIC,
        )
    updated = max((deal.created_at for deal in found), default=ksuids.EPOCH.astimezone(UTC))
    entries = [
        {
            "id": f"urn:ksuid:{deal.deal_id}",
            "title": _xml(_headline(deal)),
            "brand": _xml(deal.brand_name),
            "category": CATEGORIES.get(deal.category, deal.category),
            "link": absolute(f"/deals/{views.number(deal)}"),
            "at": to_iso(deal.created_at),
            "summary": _xml(_summary(deal)),
        }
        for deal in found
    ]
    text = render("feed.xml", title=_xml(title), home=home, own=own, updated=to_iso(updated), entries=entries)
    return Answer(text, media_type=ATOM, cache=headers.PUBLIC)


def _json_feed(title: str, home: str, own: str, found: Sequence[Deal]) -> dict[str, Any]:
    """A list as https://www.jsonfeed.org/version/1.1/ has it."""
    return {
        "version": "https://jsonfeed.org/version/1.1",
        "title": title,
        "home_page_url": home,
        "feed_url": own,
        "items": [
            {
                "id": deal.deal_id,
                "url": absolute(f"/deals/{views.number(deal)}"),
                "external_url": deal.link,
                "title": _headline(deal),
                "content_text": _summary(deal),
                **({"image": deal.image} if deal.image else {}),
                "date_published": to_iso(deal.created_at),
                "tags": [deal.category],
                "authors": [{"name": deal.brand_name}],
            }
            for deal in found
        ],
    }


def _headline(deal: Deal) -> str:
    return f"{deal.title}: {views.money(deal.price, deal.currency)}"


def _xml(text: str) -> str:
    """A text without what no XML document may hold."""
    return _NOT_XML.sub("\ufffd", text)
