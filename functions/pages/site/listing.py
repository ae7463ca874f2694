"""Public lists of deals: a category's, a brand's and a search's, with sorting and filters; and the list of all
brands."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from http import HTTPStatus
from typing import Any

from shared import features, hooks, settings
from shared.data.catalog import feed_counts, feeds, offers, picks, search, selecting, sorting, topics, words
from shared.data.catalog.page_cache import HTML
from shared.data.catalog.phrases import Phrases, read_phrases
from shared.data.catalog.search import Match
from shared.errors import InvalidName, NotFound
from shared.html import fragments, pages, views
from shared.html.fragments import path_of
from shared.html.links import link
from shared.html.pages import Answer, Request, Routes
from shared.http import cached_pages, requests
from shared.models.catalog import (
    BRAND,
    CATEGORIES,
    CATEGORY,
    CountedTopic,
    Deal,
    Feed,
    Period,
    Selection,
    Sort,
    Status,
    Topic,
    feed_of,
)
from shared.runtime.environment import table
from shared.values import identifiers, money, naming
from shared.values.naming import counted

_PRICES = ("from", "to")


def public_page(template: str, request: Request, **values: Any) -> Answer:
    """A page that is the same for everyone. One that isn't indexed has no canonical address."""
    if cursor_of(request) or "q" in request.query or values.get("robots"):
        values["canonical"] = None
    known: dict[str, Any] = {"cache": pages.PUBLIC, "here": request.path, "notice": request.query.get("notice")}
    return pages.page(template, **(known | values))


def list_page(template: str, request: Request, *, indexed: bool = True, **values: Any) -> Answer:
    """A page of a list; only its first page is ``indexed``, if the list is.

    A price that can't be read stays in its field, with the error beside it. The list is that without this limit. A list
    without such fields ignores it.
    """
    first = cursor_of(request) is None
    if "narrowing" in values and (wrong := wrong_prices(request)):
        typed = {name: request.query[name] for name in wrong}
        values |= {"narrowing": values["narrowing"] | typed | {"wrong": wrong}, "cache": pages.PRIVATE}
        return public_page(template, request, first=first, status=HTTPStatus.BAD_REQUEST, **values)
    robots = None if indexed and first else "noindex, follow"
    return public_page(template, request, first=first, robots=robots, **values)


def how_many(number: int, *, is_all: bool) -> str:
    """The number of deals in a list, or that there are more: ``24 deals``, ``More than 24 deals``."""
    return counted(number, "deal") if is_all else f"More than {counted(number, 'deal')}"


def selected_page(request: Request, **values: Any) -> Answer:
    """A page of selected deals, or of all in another order; a search shows more than other lists."""
    others: dict[str, Any] = {
        "topic": None,
        "remark": "",
        "alert": None,
        "partly": [],
        "search": None,
        "count": "",
        "among": "",
    }
    return list_page("selected.html", request, indexed=False, **(others | values))


def cursor_of(request: Request) -> str | None:
    """The cursor of the requested page; an empty one counts as none."""
    return request.query.get("cursor") or None


def selection_of(request: Request) -> Selection:
    """The selection of a list's request, without ``wrong_prices``; an empty form field counts as none.

    Raises BadRequest. Prices are read as people type them: ``$1,000`` and ``19,90 €``.
    """
    typed = {name: text.strip() or None for name, text in request.query.items()}
    return requests.selection(typed | _prices(request) | dict.fromkeys(wrong_prices(request)))


def wrong_prices(request: Request) -> dict[str, str]:
    """The errors of typed prices, by field."""
    typed = _prices(request)
    unreadable = [name for name, price in typed.items() if not re.fullmatch(money.PATTERN, price)]
    if not unreadable and len(typed) == len(_PRICES) and float(typed["from"]) > float(typed["to"]):
        return {"from": "The lower price is above the higher one."}
    return dict.fromkeys(unreadable, "Write a price such as 80 or 79.90.")


def _prices(request: Request) -> dict[str, str]:
    return {name: money.read(price)[0] for name in _PRICES if (price := request.query.get(name, "").strip())}


def feed_addresses(path: str = "", **query: str) -> dict[str, str]:
    """The addresses of a list's feeds, by format; those of all deals without a path."""
    endings = features.merged(hooks.Navigation, lambda each: each.FEEDS)
    return {name: link(path + ending, **query) for name, ending in endings.items()}


def latest_of(feed: Feed, now: datetime, held: feeds.PeriodCounts | None = None) -> str:
    """The newest page of a feed, made from the indexes."""
    # The counts of as many days as the page can show.
    counts = held[0] if held else feed_counts.counts(table(), feed, most=settings.READ_FOR_CARDS)
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, held=held)
    marks = {} if feed.period is Period.MONTH else fragments.marks_of(table(), page.items, now)
    return fragments.latest(page, feed, now, counts, marks)


def older_of(feed: Feed, now: datetime, cursor: str) -> str:
    """A later page of a feed, with as many cards as the first. Raises InvalidCursor, NoSuchTopic."""
    page = feeds.read(table(), feed, limit=settings.READ_FOR_CARDS, now=now, cursor=cursor)
    return fragments.latest(page, feed, now, {}, first=False)


MOST = 6
"""Brands or categories linked from a list: the most frequent ones on its page."""

ORDERS = {Sort.NEWEST: "Newest", Sort.CHEAPEST: "Cheapest", Sort.DISCOUNT: "Discount"}
MORE = {Sort.NEWEST: "Older deals", Sort.CHEAPEST: "Higher prices", Sort.DISCOUNT: "Smaller discounts"}

LOWEST = "Lowest in 60 days"

_FIRST = {
    Sort.NEWEST: "Newest first",
    Sort.CHEAPEST: "Cheapest first",
    Sort.DISCOUNT: "Biggest discounts first",
}

Choices = list[dict[str, Any]]
"""Links, one of which may be the current page's."""


def above(
    path: str,
    selection: Selection,
    *,
    query: str | None = None,
    among: Choices | None = None,
    currencies: Iterable[str] = (),
    opened: Selection | None = None,
    fields: tuple[str | None, Selection] | None = None,
) -> dict[str, Any]:
    """The values of the macro ``narrowing`` for a list, or for a search with a ``query``.

    A link in ``marks`` filters by 60-day lows. ``among`` links to parts of the list; ``currencies`` are others in which
    it has prices. ``opened`` is the selection with the displayed currency. ``fields`` are a search's words without its
    typed limits, and all its limits, for the form with the prices.
    """
    currency, asked = (opened or selection).currency, {"q": query, **query_of(selection)}
    words_alone, limits = fields or (query, selection)
    sent = {"q": words_alone, **query_of(limits)}
    known = sorted({*currencies, *([currency] if currency else [])}, key=_by_settings)
    return {
        "action": link(path),
        "kept": {name: value for name, value in sent.items() if value is not None and name not in _TYPED},
        "off": sent["off"] or "",
        "discounts": {"": "any discount"} | {str(each): _off(each) for each in _discounts(limits.discount)},
        "wrong": {},
        "from": sent["from"] or "",
        "to": sent["to"] or "",
        "unit": money.sign(currency) if currency else "",
        "orders": [
            _choice(name, path, {**asked, **_sorted(sort)}, current=sort is (opened or selection).sort)
            for sort, name in ORDERS.items()
        ],
        "marks": [] if selection.lowest else [_choice(LOWEST, path, {**asked, "lowest": "true"})],
        "among": among or [],
        "currencies": [
            _choice(each, path, {**asked, "currency": each}, current=each == currency)
            for each in known
            if len(known) > 1
        ],
    }


_TYPED = ("from", "to", "off")
"""The parameters that the form above a list has fields for."""

_DISCOUNTS = (10, 20, 30, 50, 70)


def _discounts(chosen: int | None) -> list[int]:
    """The least discounts to choose from, with the chosen one."""
    return sorted({*_DISCOUNTS, *([chosen] if chosen else [])})


def brands_in(category: Topic, selection: Selection, brand: CountedTopic | None, shown: Iterable[Deal]) -> Choices:
    """``brands_among`` for a category's page."""
    return brands_among(path_of(feed_of(category)), selection, shown, brand.name if brand else None)


def brands_among(
    path: str, selection: Selection, shown: Iterable[Deal], name: str | None = None, query: str | None = None
) -> Choices:
    """Links to the most frequent brands on a page, and from a selected brand (``name``) back to all."""
    asked = {"q": query, **query_of(selection)}
    most = Counter((deal.brand, deal.brand_name) for deal in shown).most_common(MOST)
    if selection.brand is None:
        return [_choice(each, path, {**asked, "brand": slug}) for (slug, each), _ in most if len(most) > 1]
    name = name or (most[0][0][1] if most else selection.brand)
    return [_choice("All brands", path, {**asked, "brand": None}), _choice(name, path, asked, current=True)]


def categories_of(brand: Topic, selection: Selection, _: CountedTopic | None, shown: Iterable[Deal]) -> Choices:
    """Links from a brand's page to its most frequent categories."""
    most = Counter(deal.category for deal in shown).most_common(MOST)
    asked = {**query_of(selection), "brand": brand.slug}
    return [_choice(CATEGORIES[slug], path_of(feed_of(Topic(CATEGORY, slug))), asked) for slug, _ in most]


def query_of(selection: Selection) -> dict[str, str | None]:
    """The query parameters of a selection, with None for defaults."""
    return {
        **_sorted(selection.sort),
        "from": selection.least and selection.least.removesuffix(".00"),
        "to": selection.most and selection.most.removesuffix(".00"),
        "currency": selection.currency,
        "off": str(selection.discount) if selection.discount else None,
        "lowest": "true" if selection.lowest else None,
        "brand": selection.brand,
    }


def sentence(selection: Selection, brand: CountedTopic | None = None) -> str:
    """A list's order and filters in words: ``Cheapest first, from $10 to $80``."""
    bounds = (("from", selection.least), ("to", selection.most))
    within = [f"{word} {views.money(price, selection.currency or '')}" for word, price in bounds if price is not None]
    said = [
        _FIRST[selection.sort],
        *([" ".join(within)] if within else []),
        *([_off(selection.discount)] if selection.discount else []),
        *([LOWEST.lower()] if selection.lowest else []),
        *([f"of {brand.name}"] if brand else []),
    ]
    return ", ".join(said)


def chips(
    path: str, selection: Selection, query: str | None = None, currency: str | None = None
) -> list[tuple[str, str]]:
    """A list's filters in words, each with the address that removes it. Prices are in the displayed ``currency``."""
    asked = {"q": query, **query_of(selection)}
    prices = _bounds(replace(selection, currency=selection.currency or currency))
    return [
        *([(prices, link(path, **{**asked, "from": None, "to": None}))] if prices else []),
        *([(_off(selection.discount), link(path, **{**asked, "off": None}))] if selection.discount else []),
        *([(LOWEST, link(path, **{**asked, "lowest": None}))] if selection.lowest else []),
    ]


def _bounds(selection: Selection) -> str:
    """Price limits in words: ``up to $80``, ``$20 or more``, ``$20 to $40``; empty without any."""
    least, most = (
        price and views.money(price, selection.currency or "").strip().removesuffix(".00")
        for price in (selection.least, selection.most)
    )
    if least and most:
        return f"{least} to {most}"
    return f"{least} or more" if least else f"up to {most}" if most else ""


def in_words(selection: Selection) -> str:
    """The limits of a selection in words, empty without any."""
    return ", ".join(name for name, _ in chips("", selection))


def _off(percent: int) -> str:
    return f"{percent}% off or more"


def _sorted(sort: Sort) -> dict[str, str | None]:
    return {"sort": None if sort is Sort.NEWEST else sort.value}


def _by_settings(currency: str) -> tuple[bool, int | str]:
    """Sort key of currencies: the settings' first."""
    known = currency in settings.CURRENCIES
    return not known, settings.CURRENCIES.index(currency) if known else currency


def _choice(name: str, path: str, asked: dict[str, str | None], *, current: bool = False) -> dict[str, Any]:
    return {"name": name, "address": link(path, **asked), "current": current}


MOST_ENDED = 24

SORTED, READ_SORTED = 24, 36
"""Cards of a page in another order (as many as ``views.FULL_ROWS``), and the deals read for them."""

routes = Routes()


@routes.get("/categories/<category>")
def category_page(request: Request, category: str) -> Answer:
    topic, now = Topic(CATEGORY, category.lower()), request.now
    if topic.slug not in CATEGORIES:
        return pages.problem_page(HTTPStatus.NOT_FOUND, "There is no such category. Choose one of these.", public=True)
    if category != topic.slug:
        return pages.moved(f"/categories/{topic.slug}")
    selection, cursor = selection_of(request), cursor_of(request)
    if not selection.is_all:
        return _selected(request, topic, selection, brands_in)
    if cursor is not None:
        return _older_of_topic(request, topic, cursor)
    found, copy = cached_pages.read_category(topic, now, HTML)
    if copy is not None:
        featured, latest = copy.picks, copy.latest
    else:
        found = topics.get(table(), topic)
        featured = fragments.picks(picks.read(table(), topic, now), now)
        latest = latest_of(feed_of(topic), now)
    return _of_topic(request, found, latest or "", featured or "")


@routes.get("/brands")
def all_brands(request: Request) -> Answer:
    names = topics.brand_names(table())
    letters: dict[str, list[tuple[str, str]]] = {}
    for slug, name in sorted(names.items()):
        letters.setdefault(slug[0].upper() if slug[0].isalpha() else "0-9", []).append((slug, name))
    groups = [{"letter": letter, "id": "l-" + letter[0].lower(), "names": of} for letter, of in letters.items()]
    description = f"All {len(names):,} brands from A to Z, each with its deals." if names else "All brands."
    return public_page("brands.html", request, groups=groups, count=len(names), description=description)


@routes.get("/brands/<brand>")
def brand_page(request: Request, brand: str) -> Answer:
    cursor = cursor_of(request)
    selection = replace(selection_of(request), brand=None)
    try:
        topic = brand_named(brand)
        if brand != topic.slug:
            return pages.moved(f"/brands/{topics.named(table(), brand).topic.slug}")
        if not selection.is_all:
            return _selected(request, topic, selection, categories_of)
        if cursor is not None:
            return _older_of_topic(request, topic, cursor)
        found, held = feeds.open_feed(table(), topic)
    except NotFound:
        detail = f"There is no brand “{brand[:100]}”."
        return pages.problem_page(HTTPStatus.NOT_FOUND, detail, public=True, names=brands_like(brand))
    latest = latest_of(feed_of(topic), request.now, held)
    return _of_topic(request, found, latest, deals=sum(held[0].values()))


def brand_named(name: str) -> Topic:
    try:
        return Topic(BRAND, naming.slug(name))
    except InvalidName as error:
        raise NotFound("There is no such brand.") from error


def brands_like(name: str) -> list[tuple[str, str]]:
    """Brands whose slug begins with a name, or nearly equals it."""
    import difflib  # noqa: PLC0415  # most brands are there

    known = topics.brand_names(table())
    wanted = "-".join(words.in_text(name))
    written = {slug: (slug, *naming.without_signs(slug)) for slug in known}
    begin = [slug for slug in known if wanted and any(each.startswith(wanted) for each in written[slug])]
    near = difflib.get_close_matches(wanted, known, n=6, cutoff=0.7) if wanted else []
    return [(slug, known[slug]) for slug in dict.fromkeys([*begin[:6], *near])][:8]


def _older_of_topic(request: Request, topic: Topic, cursor: str) -> Answer:
    """A later page of a topic's deals, read together with its name. Raises NoSuchTopic, InvalidCursor."""
    asked: list[Callable[[], Any]] = [
        partial(topics.get, table(), topic),
        partial(older_of, feed_of(topic), request.now, cursor),
    ]
    return _of_topic(request, *table().gather(asked))


def _selected(request: Request, topic: Topic, selection: Selection, among: Callable[..., Choices]) -> Answer:
    """A page of a topic's selected deals, and links ``among`` its other deals.

    Usually one round trip; two for the newest deals. Raises NoSuchTopic, InvalidCursor, BadRequest.
    """
    cursor, path = cursor_of(request), fragments.path_of(feed_of(topic))
    found = sorting.read(
        table(), topic, selection, limit=READ_SORTED, now=request.now, cursor=cursor, leads_on=cursor is None
    )
    page, shown = found.page, found.selection
    deals = page.items[: views.first_groups(page.items, SORTED, under=None)]
    # If not everything found is shown, the next page begins with the rest.
    more = sorting.cursor_after(topic, shown, deals[-1]) if len(deals) < len(page.items) else page.next
    bar = above(
        path,
        selection,
        among=among(topic, selection, found.brand, page.items),
        currencies=found.currencies,
        opened=shown,
    )
    said = sentence(shown, found.brand)
    return selected_page(
        request,
        count=how_many(len(page.items), is_all=page.next is None) if cursor is None and page.items else "",
        name=found.topic.name,
        chips=chips(path, selection, currency=shown.currency),
        topic=topic,
        order=said,
        narrowing=bar,
        cards=views.cards(deals, request.now),
        next=link(path, **query_of(shown), cursor=more) if more else None,
        more=MORE[selection.sort],
        all=link(path),
        feed=feed_addresses(path),
        description=f"Deals of {found.topic.name}. {said}.",
    )


def _of_topic(request: Request, found: CountedTopic, latest: str, picks: str = "", *, deals: int = 0) -> Answer:
    """The page of a brand or category; ``deals`` is its current number, if known.

    Without deals, it shows the last ones that ended.
    """
    something = "<li" in latest or cursor_of(request) is not None
    over = [] if something else offers.ended(table(), found.topic, MOST_ENDED)
    path = fragments.path_of(feed_of(found.topic))
    latest = fragments.without(latest, picks, leads_on=True) if picks else latest
    counts = [
        *([f"{counted(deals, 'deal')} now"] if deals else []),
        *([f"{_people(found.likes)} {'likes' if found.likes == 1 else 'like'} it"] if found.likes else []),
        *([f"{_people(found.watchers)} {'watches' if found.watchers == 1 else 'watch'} it"] if found.watchers else []),
    ]
    return list_page(
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
        narrowing=above(path, Selection()),
        feed=feed_addresses(path),
        description=f"Deals of {found.name}, newest first.",
    )


def _people(number: int) -> str:
    return "1 person" if number == 1 else f"{number:,} people"


@routes.get("/search")
def search_page(request: Request) -> Answer:
    typed, cursor = request.query.get("q", "").strip(), cursor_of(request)
    limits = read_phrases(typed)
    wanted, query = words.asked(limits.rest), typed[: words.MOST_CHARACTERS]
    selection = limits.within(selection_of(request))
    if limits.typed and not wanted.terms:
        of_all = link("/deals", **query_of(sorting.opened_in_settings(replace(selection, brand=None))))
        return Answer("", status=HTTPStatus.SEE_OTHER, cache=pages.PUBLIC, headers={"Location": of_all})
    if not selection.is_all and wanted.terms:
        return _selected_matches(request, wanted, query, limits)
    found = search.find(table(), wanted, limit=settings.READ_FOR_CARDS, cursor=cursor)
    ran, searched = (found.instead, found.instead.text) if found.instead else (wanted, query)
    shown = search.first_cards(found.matches, settings.CARDS_OF_A_SEARCH)
    # If not everything found is shown, the next page begins with the rest.
    more = identifiers.cursor_after(ran.scope, shown[-1].deal_id) if len(shown) < len(found.matches) else found.next
    most = () if more else search.partly(table(), found, search.room(shown, settings.CARDS_OF_A_SEARCH))
    active, some, alike = _active(shown, most, request.now)
    near_brands = [] if active or not wanted.words else brands_like(wanted.words[0])
    return list_page(
        "search.html",
        request,
        indexed=False,
        query=searched,
        asked=bool(wanted.words),
        instead_of=query if found.instead else None,
        count=_found(found) if cursor is None else "",
        cut=wanted.cut,
        completed=(ran.words[-1], found.completed) if found.completed else None,
        digit=ran.words[-1] if ran.words and ran.words[-1].isdigit() and len(ran.words[-1]) == 1 else None,
        offers=_offers(limits) if cursor is None else [],
        synonyms=found.synonyms,
        narrowing=above("/search", Selection(), query=searched),
        cards=views.cards(active, request.now, alike=alike),
        partly=views.cards(some, request.now, alike=alike),
        named=_named(ran, active) if cursor is None else [],
        near=[(word, link("/search", q=word)) for word in found.near],
        near_brands=near_brands,
        next=more,
        feed=feed_addresses(q=searched) if wanted.words else None,
        description="Search all deals by the words of their titles, brands and categories.",
    )


def _selected_matches(request: Request, wanted: words.Search, query: str, limits: Phrases) -> Answer:
    """A page of a search in another order, or of its selected deals."""
    cursor, selection = cursor_of(request), selection_of(request)
    found = selecting.find(table(), wanted, limits.within(selection), now=request.now, cursor=cursor)
    alone = limits.rest if found.ran is wanted else found.ran.text
    searched = query if found.ran is wanted else limits.around(alone)
    shown = search.first_cards(found.matches, settings.CARDS_OF_A_SEARCH)
    more = selecting.cursor_after(found.ran, found.selection, shown[-1]) if len(shown) < len(found.matches) else None
    room = 0 if more else search.room(shown, settings.CARDS_OF_A_SEARCH)
    most = selecting.partly(table(), found, room, request.now)
    active, some, alike = _active(shown, most, request.now)
    looked = f"newest {counted(found.looked or 0, 'deal')} with these words"
    onward = replace(selection, currency=found.selection.currency)
    among = brands_among("/search", selection, active, query=searched)
    return selected_page(
        request,
        query=searched,
        search={
            "instead_of": None if found.ran is wanted else limits.rest,
            "ran": found.ran.text,
            "offers": _offers(limits) if cursor is None else [],
            "synonyms": found.found.synonyms,
            **(_without_results(found, limits, selection) if cursor is None and not active else {}),
        },
        name=f"Search: {searched}",
        count=how_many(found.number, is_all=found.looked is None) if found.number else "",
        remark=f"From the {looked} only." if found.looked else "",
        among=f" of the {looked}" if found.looked else "",
        order=sentence(found.selection),
        narrowing=above(
            "/search",
            selection,
            query=searched,
            among=among,
            currencies=found.currencies,
            opened=found.selection,
            fields=(alone, limits.within(selection)),
        ),
        chips=[
            (phrase, link("/search", q=limits.around(found.ran.text, but=phrase), **query_of(selection)))
            for phrase in limits.typed
        ]
        + chips("/search", selection, searched, found.selection.currency),
        alert={
            "words": found.ran.text,
            "ceiling": found.selection.most,
            "currency": found.selection.currency,
            "leastDiscount": found.selection.discount,
        },
        cards=views.cards(active, request.now, alike=alike),
        partly=views.cards(some, request.now, alike=alike),
        next=link("/search", q=searched, **query_of(onward), cursor=more) if more else None,
        more=MORE[selection.sort],
        all=link("/search", q=alone),
        feed=feed_addresses(q=searched),
        description="Search all deals by the words of their titles, brands and categories.",
    )


def _found(found: search.Found) -> str:
    number, is_all = search.count(found)
    return how_many(number, is_all=is_all)


def _offers(limits: Phrases) -> list[tuple[str, str, str]]:
    """Phrases that were searched as words, each with the search in which it is a limit or left out, and its address."""
    return [
        (
            offer.typed,
            ", ".join(filter(None, [limits.around(offer.rest), in_words(offer.selection)])),
            link("/search", q=limits.around(offer.rest), **query_of(offer.selection)),
        )
        for offer in limits.offered
    ]


def _without_results(found: selecting.Selected, limits: Phrases, selection: Selection) -> dict[str, Any]:
    """What a search within limits shows if it finds nothing: wider searches, similar words, brands and categories."""
    within = {**query_of(selection), "brand": None}
    first = found.ran.words[0]
    return {
        "wider": [
            (
                f"{found.ran.text}, {in_words(each) or 'without limits'}",
                counted(count, "deal"),
                link("/search", q=found.ran.text, **query_of(each)),
            )
            for each, count in found.loosened
        ],
        "near": [(word, link("/search", q=limits.around(word), **within)) for word in found.found.near],
        "near_brands": [] if found.loosened else brands_like(first),
        "categories": [
            (name, link(f"/categories/{slug}", **query_of(replace(found.selection, brand=None))))
            for slug, name in CATEGORIES.items()
        ],
    }


def _active(
    whole: Sequence[Match], partly: Sequence[Match], now: datetime
) -> tuple[list[Deal], list[Deal], dict[str, int]]:
    """The first deals of cards, of full and partial matches; and each card's number of deals, by its first."""
    (heads, alike), (others, alike_others) = search.heads(whole, now), search.heads(partly, now)
    active, some = search.active_of_both(table(), heads, others, now)
    return active, some, alike | alike_others


def _named(ran: words.Search, shown: Sequence[Deal]) -> list[tuple[str, str]]:
    """The pages of brands and categories named in a search; brands only if a shown deal has them."""
    names = {deal.brand: deal.brand_name for deal in shown}
    brands = words.brands_in(ran, names)
    categories = words.categories_in(ran, besides=[word for slug in brands for word in words.in_text(names[slug])])
    return [
        *((f"/brands/{slug}", names[slug]) for slug in brands),
        *((f"/categories/{slug}", CATEGORIES[slug]) for slug in categories),
    ]
