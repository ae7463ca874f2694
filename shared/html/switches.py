"""Buttons that switch a state of a member's on and off, such as a like.

They are on public pages, which may be cached: plain forms that redirect back. The script sends the same form, asks for
JSON, and shows the new state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from shared.errors import AlreadyLiked, AlreadyWatching, NotLiked, NotWatching
from shared.html import cookies, forms, pages
from shared.html.pages import Answer, Request
from shared.html.views import render
from shared.runtime import metrics
from shared.runtime.metrics import report


def switched(
    request: Request,
    place: str,
    *,
    on: Callable[..., object],
    off: Callable[..., object],
    notices: tuple[str, str],
    states: Sequence[str] = (),
    counted: tuple[metrics.Metric, metrics.Metric] | None = None,
) -> Answer:
    """Switch a button's state on or off, and redirect to its page. It is idempotent.

    ``notices`` are the codes for on and off; the first is also the state's name for the script. ``states`` replaces it
    by several names: the state's, and those of buttons that are off when it is on. ``on`` may return the code of
    another notice. The script gets the notice's sentence.
    """
    fields = forms.read(request.event)
    place = forms.own_path(fields.get("next"), place)
    member = cookies.sender_with_replay(request, place)
    turned_on = fields.get("on", "1") == "1"
    notice = notices[0 if turned_on else 1]
    with suppress(AlreadyWatching, NotWatching, AlreadyLiked, NotLiked):
        other = (on if turned_on else off)(username=member.username, account_id=member.account_id)
        notice = other if isinstance(other, str) else notice
        if counted:
            report(counted[0] if turned_on else counted[1])
    if request.wants_json:
        own, *others = states or notices[:1]
        said = {"notice": render("parts/sentence.html", notice=notice).strip()}
        return pages.json_answer({own: turned_on, **dict.fromkeys(others, False), **said})
    return pages.lead_to(place, notice=notice)
