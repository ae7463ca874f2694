"""The parts of pages that are the same for all who read them within minutes: picked deals, and the newest of a feed.

The refresher writes them beside the API's copies, and the site joins them into pages; where a copy is missing, the site
makes the same part itself. A copy's links have no prefix: the page that shows it adds the site's own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from shared.html import views
from shared.html.links import base
from shared.html.templates import render
from shared.models.catalog import Deal, Feed, Period
from shared.models.lists import Page

GROUPS = views.FULL_ROWS
"""Cards that a page of a list shows, each for deals of one product at one price."""

LINK = 'href="/'
"""How a link to a page of the site begins in a copy."""

PICTURE = "/pictures/"
"""How the address of a picture of ours begins in a copy."""

SMALL, LARGE = 360, 720
"""Widths of pictures, on a card and on the leading one."""

_SMALL_PICTURE = re.compile(f'(<img src="[^"]*[?;]width=){SMALL}"')
"""The address of a card's picture up to its width, where its host makes one."""


def picks(deals: Sequence[Deal], now: datetime, *, front: bool) -> str:
    """Picked deals as cards, on the front page with the first one large; nothing where there are none."""
    shown = [views.card(deal, now, width=LARGE if front and n == 0 else SMALL) for n, deal in enumerate(deals)]
    views.leave_out(shown, lead=front)
    return render("parts/picks.html", prefix="", cards=shown, front=front, broad=views.is_broad(shown))


def latest(
    page: Page[Deal], feed: Feed, now: datetime, counts: Mapping[str, int], next_: str | None, *, first: bool = True
) -> str:
    """The newest deals of a feed under their days (a brand's under its months), and the way to older ones."""
    by_month = feed.period is Period.MONTH
    sections = views.by_month(page.items, now) if by_month else views.by_day(page.items, now, counts)
    return render("parts/latest.html", prefix="", days=sections, next=next_, path=path_of(feed), first=first)


def path_of(feed: Feed) -> str:
    """The page that shows a feed."""
    if feed.topic is None:
        return "/deals"
    return f"/{feed.topic.kind.path}/{feed.topic.slug}"


def enlarge_first_card(latest: str) -> str:
    """A feed's newest page with its first deal large, as the first pick is; the copy has it as large as the others.

    Its picture is the largest thing on the page, so it is asked for at once and not when it is scrolled to.
    """
    before, found, rest = latest.partition('<li class="card">')
    if not found:
        return latest
    card, end, after = rest.partition("</li>")
    card = _SMALL_PICTURE.sub(rf'\g<1>{LARGE}"', card, count=1)
    small, large = (f'width="{width}" height="{width * 3 // 4}"' for width in (SMALL, LARGE))
    card = card.replace(small, large, 1)
    card = card.replace(f'sizes="auto, {SMALL}px"', f'sizes="{LARGE}px"', 1)
    card = card.replace('loading="lazy"', 'fetchpriority="high"', 1)
    return f'{before}<li class="card lead">{card}{end}{after}'


def placed(text: str) -> str:
    """A part with the prefix of the site that shows it in its links."""
    prefix = base()
    if not prefix:
        return text
    # User content has no plain slash here: templates write it as a character reference.
    return (
        text.replace(LINK, f'href="{prefix}/')
        .replace(f" {PICTURE}", f" {prefix}{PICTURE}")
        .replace(f'"{PICTURE}', f'"{prefix}{PICTURE}')
    )
