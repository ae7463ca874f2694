"""A POST replayed after signing in: a cookie keeps its form.

Only harmless buttons are kept, as another person may sign in: buy, save, vote, watch and like. The cookie is set
in answer to a form of our own pages, and ``__Host-`` keeps other sites from setting it: what it asks was asked here.
"""

from __future__ import annotations

from urllib.parse import quote, urlencode

from shared.html import cookies, forms, pages
from shared.html.app import Page, Routes
from shared.html.pages import Answer, Request, SignInFirst
from shared.http import requests
from shared.models.members import Session

COOKIE = "btd-wish"
"""The end of the cookie's name."""

MOST = 1000
"""Characters of a form that is kept: such a button's has few fields."""


def sender_of(request: Request, place: str) -> Session:
    """As ``cookies.sender_of``, but what the button asks for is kept, and done on the way back to its place."""
    try:
        return cookies.sender_of(request, place)
    except SignInFirst as error:
        wish = f"{quote(request.path)}?{urlencode(forms.read(request.event))}"
        if len(wish) > MOST:
            raise
        # Half an hour is enough to make an account.
        kept = f"{requests.name(COOKIE)}={wish}; {requests.attributes()}; HttpOnly; Max-Age=1800"
        prefix = request.path.split("/")[1]
        way_back = f"/{prefix}/wish?{urlencode({'next': place})}"
        raise SignInFirst(pages.redirect("/account/sign-in", cookies=(kept,), next=way_back)) from error


def replay_after_sign_in(routes: Routes, prefix: str, *buttons: Page) -> None:
    """Register the page below a prefix that sends the form that was kept, of one of some buttons, and forgets it."""

    @routes.get(f"{prefix}/wish")
    def wish(request: Request) -> Answer:
        form = _kept(request)
        button = routes.button(form.path) if form and request.opens_page else None
        if form and button and button.func in buttons:
            answer = button(form)
        else:
            answer = forms.lead_to(forms.own_path(request.query.get("next"), "/"))
        own = requests.name(COOKIE)
        lines = list(answer.headers.get("Set-Cookie", []))
        if not any(line.startswith(f"{own}=") for line in lines):  # else it is kept once more
            answer.headers["Set-Cookie"] = [*lines, f"{own}=; {requests.attributes()}; HttpOnly; Max-Age=0"]
        return answer


def _kept(request: Request) -> Request | None:
    """The form that the cookie of a request keeps."""
    own = requests.name(COOKIE)
    found = [value for name, value in requests.brought(request.event) if name == own]
    if len(found) != 1:
        return None
    path, _, body = found[0].partition("?")
    headers = {**request.event["headers"], "content-type": forms.MEDIA_TYPE}
    return Request({**request.event, "httpMethod": "POST", "body": body, "headers": headers}, path, {}, request.now)
