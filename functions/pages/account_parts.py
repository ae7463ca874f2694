"""Parts that the pages of accounts share: the forms, their errors, and the account's own page."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Any

from shared import features
from shared.data.members import accounts
from shared.errors import DealsError, EmailTaken, SlowDown, UsernameTaken, WrongPassword
from shared.html import cookies, forms, pages, views
from shared.html.forms import InvalidFields
from shared.html.pages import Answer, Request
from shared.models.members import Session, User
from shared.runtime.environment import table
from shared.values.naming import counted

WORDS = {
    "username": "This must be 1 to 30 letters, digits, dots and hyphens, with a letter or digit at both ends.",
    "email": "This must be an email address.",
}


def me(request: Request) -> User:
    """The account of the user who asks. Raises NotSignedIn."""
    return account_of(cookies.member_of(request))


def account_of(whose: Session | User) -> User:
    """The account of a session's user, as it is now. Raises NotSignedIn, for one that was removed meanwhile."""
    return accounts.own(table(), whose.username, whose.account_id)


def next_of(given: Mapping[str, str]) -> str:
    """The path of ours that signing in was asked to lead on to, or nothing."""
    return forms.own_path(given.get("next"), "")


def again(form: Callable[[Mapping[str, str]], Answer], field: str, error: DealsError) -> Answer:
    """The form again, with its values except passwords, and its errors; ``field`` takes an error without a field."""
    match error:
        case InvalidFields(errors=errors):
            return form(errors)
        case WrongPassword():
            return form({field: str(error)})
        case UsernameTaken():
            return form({"username": "That username is taken. Choose another."})
        case EmailTaken():
            return form({"email": "An account with this address exists already."})
        case SlowDown(retry_after=seconds):
            answer = form({field: f"Too many attempts. Try again in {counted(math.ceil(seconds / 60), 'minute')}."})
            answer.status_code = HTTPStatus.TOO_MANY_REQUESTS
            answer.headers["Retry-After"] = str(seconds)
            return answer
    raise error


def visitor_form(
    name: str, typed: Mapping[str, str], errors: Mapping[str, str] | None = None, folder: str = "account", **values: Any
) -> Answer:
    """A form for visitors who are not signed in, with its values except passwords; ``folder`` has its template."""
    shown = {each: typed.get(each, "") for each in ("username", "name", "email")}
    place, onward = f"/account/{name}", next_of(typed)
    return pages.page(f"{folder}/{name}.html", here=place, typed=shown, errors=errors, next=onward, **values)


def account_page(
    request: Request,
    whose: Session | User,
    typed: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> Answer:
    (user,), head = cookies.beside_head(request, partial(account_of, whose))
    return pages.page(
        "account/account.html",
        here="/account",
        notice=request.notice,
        user={name: getattr(user, name) for name in ("username", "name", "email", "role")},
        since=f"{views.day(user.created_at)} {user.created_at.year}",
        typed={name: (typed or {}).get(name, "") for name in ("name", "email")},
        errors=errors,
        **{name: value for each in features.joining("account") for name, value in each.on_account_page(user).items()},
        **head,
    )
