"""Page parts that are the same for all readers: picked deals, and a feed's newest deals.

The refresher stores them with the API's copies, and the site joins them into pages; it makes a missing part itself. A
copy's links have no prefix: the page adds the site's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from types import MappingProxyType
from typing import NamedTuple

from shared import features, hooks
from shared.data.catalog import page_cache
from shared.data.catalog.bargains import Counts
from shared.data.catalog.page_cache import Today
from shared.dynamodb.table import Table
from shared.html import views
from shared.html.links import base
from shared.html.views import render
from shared.models.catalog import Deal, Feed, Mark, Page, Period

LINKS = ('href="/', 'action="/')
"""The starts of a link to a page of the site and of a form's address, in a copy."""

IMAGES = tuple(path for each in features.roles(hooks.Navigation) for path in each.IMAGE_PATHS)
"""The starts of our images' addresses, in a copy."""

SMALL, LARGE = 360, 720
"""Widths of pictures on a card and on the leading card."""

_SEPARATOR = "\x1f"
"""ASCII's unit separator, between the front page's parts. HTML may not contain it."""

_CLASS = '<li class="card'
_CARD = '<li class="card[^>]*>'
_DAY = '<h2 class="day">.*?</h2>'
_DEAL = 'href="/deals/[^"]*"'
_UNSEEN = r"\bnot-(\d+)"
_HEADING = '<div class="heading"><h2>(.*?)</h2>(?:<p>(.*?)</p>)?'
_ON = '<a class="button" rel="next" href="[^"]*">[^<]*</a>'
_ALL = '<a class="button" href="/deals">All the newest deals</a>'

_SMALL_PICTURE = f'(<img src="[^"]*[?;]width=){SMALL}"'
"""A card's picture's address up to its width, if its host resizes."""


def marks_of(table: Table, found: Sequence[Deal], now: datetime) -> Mapping[str, tuple[Mark, ...]]:
    """The marks that features give to the cards of a copy's newest deals, by id."""
    given = [each.marks(table, found, now) for each in features.roles(hooks.Lists)] if found else []
    return {deal_id: tuple(chain.from_iterable(of.get(deal_id, ()) for of in given)) for deal_id in set().union(*given)}


def picks(deals: Sequence[Deal], now: datetime) -> str:
    """Picked deals as cards; empty if there are none."""
    shown = views.cards_of_each(deals, now)
    views.leave_out(shown)
    return render("parts/picks.html", prefix="", cards=shown, front=False)


class Front(NamedTuple):
    """The front page's part: its picks as cards, the first one large; other lists; how many deals end soon; and how
    many deals its bargains have, as text."""

    picks: str = ""
    beside: str = ""
    ends: int = 0
    bargains: str = ""

    @property
    def text(self) -> str:
        """The whole fragment, as stored in a copy."""
        return _SEPARATOR.join((self.picks, self.beside, str(self.ends), self.bargains))

    @classmethod
    def of(cls, text: str) -> Front:
        """Parse a copy's text. An earlier release's has less, or only the picks."""
        picks, *more = text.split(_SEPARATOR)
        beside, ends, counted = [*more, "", "", ""][:3]
        return cls(picks, beside, int(ends) if ends.isdecimal() else 0, counted)

    def counts(self) -> Counts | None:
        """How many deals the bargains have; None if that isn't known."""
        with suppress(ValueError):
            return Counts.parse(self.bargains)
        return None


def front(deals: Sequence[Deal], today: Today, now: datetime, bargains: Counts | None = None) -> Front:
    """Render the front page's picks and other lists."""
    shown = views.cards_of_each(deals, now, first=LARGE)
    for each, deal in zip(shown, deals, strict=True):
        each["marks"] = today.marks.get(deal.deal_id, ())
    views.leave_out(shown, lead=True)
    lists = [
        ("Ending within a day", "/ending", views.cards_of_each(today.ending, now)),
        *((of.on_front_page, of.path, views.cards_of_list(found, now)) for of, found in today.lists),
    ]
    return Front(
        render("parts/picks.html", prefix="", cards=shown, front=True),
        render("parts/beside.html", prefix="", lists=lists),
        today.ends,
        str(bargains or ""),
    )


def under_masthead(latest: str, day: str) -> tuple[str, str]:
    """A feed's newest page below the front page's day, and that day's number of deals: ``29 deals`` or "".

    Its first heading names the list, with the day next to it if it is another day.
    """
    found = re.search(_HEADING, latest)
    if found is None:
        return latest, ""
    is_today = found[1] == day
    remark = "" if is_today else f"<p>{', '.join(filter(None, found.groups()))}</p>"
    return re.sub(_HEADING, f'<div class="heading"><h2>Newest deals</h2>{remark}', latest, count=1), (
        (found[2] or "") if is_today else ""
    )


def without(latest: str, picks: str, *, leads_on: bool = False) -> str:
    """A feed's newest page below picks, without the deals that are picked.

    A pick shown only on some screens is shown here on the others. If the page ``leads_on``, it links to older deals.
    Otherwise it is the front page: cards at the end are hidden so that each screen's rows are full, and the link leads
    to the whole list.
    """
    head, opens, rest = latest.partition('<ul class="cards">')
    if not opens:
        return latest
    items, closes, tail = rest.partition("</ul>")
    openings = {_address(card): card.partition(">")[0] for card in _cards(picks)}
    picked = {at: {int(columns) for columns in re.findall(_UNSEEN, opening)} for at, opening in openings.items()}
    numbers = views.COLUMNS if leads_on else views.FRONT_COLUMNS
    everywhere = set(numbers)
    cards = [(card, everywhere - picked[at] if (at := _address(card)) in picked else set()) for card in _cards(items)]
    shown: list[str] = []
    unseen: list[set[int]] = []
    for card, hidden in _with_days(cards, everywhere):
        shown.append(card)
        unseen.append(hidden)
    for columns in () if leads_on else numbers:
        seen = [hidden for hidden in unseen if columns not in hidden]
        for hidden in seen[len(seen) // columns * columns :] if len(seen) > columns else ():
            hidden.add(columns)
    marked = (
        re.sub(_CLASS, '<li class="card' + "".join(f" not-{each}" for each in sorted(hidden)), card, count=1)
        for card, hidden in zip(shown, unseen, strict=True)
    )
    tail = tail if leads_on else re.sub(_ON, _ALL, tail)
    return f"{head}{opens}{''.join(marked)}{closes}{tail}" if shown else tail.partition("</section>")[2]


def _with_days(cards: Iterable[tuple[str, set[int]]], everywhere: set[int]) -> Iterator[tuple[str, set[int]]]:
    """Cards visible on some screen. A day whose first card is hidden begins with the next one."""
    day = ""
    for card, hidden in cards:
        own = re.search(_DAY, card)
        if hidden == everywhere:
            day = own[0] if own else day
            continue
        yield (re.sub(_CARD, rf"\g<0>{day}", card, count=1) if day and not own else card), hidden
        day = ""


def _cards(text: str) -> list[str]:
    return [f"{card}</li>" for card in text.replace('<ul class="cards">', "").split("</li>")[:-1]]


def _address(card: str) -> str:
    """The part of a card that identifies its deal, or the brand whose other deals it links to."""
    found = re.search(_DEAL, card)
    return found[0] if found else card


def latest(
    page: Page[Deal],
    feed: Feed,
    now: datetime,
    counts: Mapping[str, int],
    marks: Mapping[str, tuple[Mark, ...]] = MappingProxyType({}),
    *,
    first: bool = True,
) -> str:
    """A feed's first cards under their days (for a brand, months) with their marks, and the link to older ones."""
    page = page_cache.first(page, feed, views.first_groups(page.items, views.FULL_ROWS, feed.period))
    by_month = feed.period is Period.MONTH
    sections = views.by_month(page.items, now) if by_month else views.by_day(page.items, now, counts, marks)
    return render("parts/latest.html", prefix="", days=sections, next=page.next, path=path_of(feed), first=first)


def path_of(feed: Feed) -> str:
    """The page of a feed."""
    if feed.topic is None:
        return "/deals"
    return f"/{feed.topic.kind.path}/{feed.topic.slug}"


def enlarge_first_card(latest: str) -> str:
    """A feed's newest page with its first deal enlarged, like a first pick.

    Its picture is the largest on the page, so it is loaded at once instead of lazily.
    """
    before, found, rest = latest.partition('<li class="card">')
    if not found:
        return latest
    card, end, after = rest.partition("</li>")
    card = re.sub(_SMALL_PICTURE, rf'\g<1>{LARGE}"', card, count=1)
    small, large = (f'width="{width}" height="{width * 3 // 4}"' for width in (SMALL, LARGE))
    card = card.replace(small, large, 1)
    card = card.replace(f'sizes="auto, {SMALL}px"', f'sizes="{LARGE}px"', 1)
    card = card.replace('loading="lazy"', 'fetchpriority="high"', 1)
    return f'{before}<li class="card lead">{card}{end}{after}'


def placed(text: str) -> str:
    """Add the site's prefix to a part's links."""
    prefix = base()
    if not prefix:
        return text
    # User content has no plain slash here: templates escape it as a character reference.
    for start in LINKS:
        text = text.replace(start, f"{start[:-1]}{prefix}/")
    for image in IMAGES:
        text = text.replace(f" {image}", f" {prefix}{image}").replace(f'"{image}', f'"{prefix}{image}')
    return text
