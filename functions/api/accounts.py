"""Accounts and sessions: sign-up, sign-in, sign-out, and the caller's account."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler import Response

from shared import features, hooks
from shared.api import documents, member_documents
from shared.api.app import calling, create_app, describe, include, of_members, serve, token_of
from shared.api.fields import with_body
from shared.api.member_bodies import AccountChange, NewUser, SignIn
from shared.data.members import accounts, sessions, users
from shared.errors import SlowDown, WrongPassword
from shared.http.answers import json_answer, nothing
from shared.http.requests import address, browser
from shared.models.members import User
from shared.runtime import audit, metrics
from shared.runtime.environment import table
from shared.runtime.metrics import report
from shared.values import identifiers, times

_OF_FEATURES = features.roles(hooks.Accounts)

app = create_app(with_body)


@app.post("/users", **describe("Sign up", "User", status=201, errors=[409]))
def sign_up(new: NewUser) -> Response[Any]:
    origin = address(app.current_event.raw_event)
    user = accounts.sign_up(table(), **new.model_dump(), address=origin, now=times.now())
    for each in _OF_FEATURES:
        each.on_account("made", user, user)
    return json_answer(member_documents.user(user), HTTPStatus.CREATED)


_SECOND_STEP = (
    "An account whose sign-in takes a second step is refused (403). Sign in on the site, make a token for a program "
    "there, and send it as the bearer token. It ends as other sessions do, and can't remove the account."
)


@app.post("/sessions", **describe("Sign in", "SessionToken", status=201, errors=[401, 403]), description=_SECOND_STEP)
def sign_in(request: SignIn) -> Response[Any]:
    now, origin = times.now(), address(app.current_event.raw_event)
    try:
        token, session = accounts.sign_in(
            table(),
            request.username,
            request.password,
            origin,
            now,
            secrets.token_bytes(identifiers.BYTES),
            browser=browser(app.current_event.raw_event),
            takes_more=lambda user: any(each.takes_more(user) for each in _OF_FEATURES),
        )
    except (WrongPassword, SlowDown) as error:
        report(metrics.SIGN_IN_FAILURES)
        audit.sign_in_failed(error)
        raise
    audit.signed_in(session, "password")
    return json_answer(member_documents.session_token(token, session), HTTPStatus.CREATED)


@app.delete("/sessions/current", **of_members("Sign out", None, status=204))
def sign_out() -> Response[Any]:
    token = token_of(app.current_event.raw_event)
    sessions.end(table(), token)
    audit.record("sign-out", calling(app).account_id, session_id=sessions.id_of(token))
    return nothing()


@app.get("/sessions", **of_members("List your sessions", "SessionList"))
def my_sessions() -> Response[Any]:
    event, user = app.current_event.raw_event, _me()
    here = sessions.network_of(address(event), user.account_id)
    own = sessions.id_of(token_of(event))
    found = sessions.of_user(table(), user, times.now())
    return json_answer(documents.all_of(member_documents.session(each, own, here) for each in found))


@app.delete("/sessions/<session_id>", **of_members("End one of your sessions", None, status=204, errors=[404]))
def end_session(session_id: str) -> Response[Any]:
    own = calling(app)
    sessions.end_one(table(), own.username, session_id)
    audit.record("session-ended", own.account_id, session_id=session_id)
    return nothing()


@app.delete("/sessions", **of_members("Sign out everywhere", None, status=204))
def sign_out_everywhere() -> Response[Any]:
    own = calling(app)
    sessions.end_all(table(), own.username, own.account_id)
    return nothing()


@app.get("/me", **of_members("Get your account", "Account"))
def me() -> Response[Any]:
    return _own(_me())


@app.patch("/me", **of_members("Change your account", "Account", errors=[409]))
def change_me(change: AccountChange) -> Response[Any]:
    user, origin = _me(), address(app.current_event.raw_event)
    if change.password is not None or change.email is not None:
        user = accounts.prove(table(), user, change.current_password or "", origin, times.now())
    if change.email is not None:
        changed = accounts.change_email(table(), user, change.email, origin, times.now())
        for each in _OF_FEATURES:
            each.on_account("email", user, changed)
    if change.name is not None:
        users.rename(table(), user.username, change.name, user.account_id)
    if change.hot_pace is not None:
        users.set_hot_notifications(table(), user.username, change.hot_pace, user.account_id)
    for each in _OF_FEATURES:
        each.change(user, change)
    if change.password is not None:
        changed = accounts.change_password(table(), user, change.password)
        for each in _OF_FEATURES:
            each.on_account("password", user, changed)
    return _own(_me())


@app.delete("/me", **of_members("Remove your account and its data", None, status=204, errors=[403, 409]))
def remove_me() -> Response[Any]:
    from shared.data import removal  # noqa: PLC0415  # all that an account may have, which nothing else here needs

    now = times.now()
    accounts.require_recent(sessions.find(table(), token_of(app.current_event.raw_event), now), now)
    removal.remove_account(table(), _me(), now)
    return nothing()


def _own(user: User) -> Response[Any]:
    of_features = features.joined((each.file, each.of_account(table(), user)) for each in _OF_FEATURES)
    return json_answer({**member_documents.user(user), **of_features})


def _me() -> User:
    own = calling(app)
    return accounts.own(table(), own.username, own.account_id)


include(app, _OF_FEATURES)

handler = serve(app)
