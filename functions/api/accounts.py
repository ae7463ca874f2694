"""Accounts and sessions: signing up, in and out, and one's own account. Only this function sees users."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.openapi.params import Body

from shared.api import documents
from shared.api.app import create_app, serve
from shared.api.bodies import AccountChange, NewUser, SignIn
from shared.api.callers import caller, token_of
from shared.api.documentation import describe
from shared.data.members import attempts, sessions, users
from shared.errors import NoSuchUser, NotSignedIn, SlowDown, WrongCurrentPassword, WrongPassword
from shared.http.answers import json_answer, nothing
from shared.http.event import address
from shared.models import User
from shared.runtime import metrics
from shared.runtime.environment import table
from shared.runtime.reporting import report
from shared.values import times
from shared.values.passwords import hash_password, verify_password
from shared.values.usernames import normalise_username

app = create_app(validates=True)


@app.post("/users", **describe("Sign up", "User", status=201, errors=[400, 409, 413, 415, 422]))
def sign_up(new: Annotated[NewUser, Body()]) -> Response[Any]:
    user = User(
        username=new.username,
        email=new.email,
        name=new.name,
        password_hash=hash_password(new.password),
        role="member",
        created_at=times.now(),
    )
    users.create(table(), user)
    return json_answer(documents.user(user), HTTPStatus.CREATED)


@app.post("/sessions", **describe("Sign in", "SessionToken", status=201, errors=[400, 401, 413, 415, 422]))
def sign_in(request: Annotated[SignIn, Body()]) -> Response[Any]:
    now, origin = times.now(), address(app.current_event.raw_event)
    try:
        username = _username(request.username)
        attempts.begin(table(), username, origin, now)
        user = _user_with_password(username, request.password)
    except (WrongPassword, SlowDown):
        report(metrics.SIGN_IN_FAILURES)
        raise
    attempts.succeed(table(), username, origin, now)
    token, session = sessions.start(table(), user, now, secrets.token_bytes(sessions.TOKEN_BYTES))
    return json_answer({"token": token, "expiresAt": times.to_iso(session.expires_at)}, HTTPStatus.CREATED)


@app.delete("/sessions/current", **describe("Sign out", None, who="member", status=204))
def sign_out() -> Response[Any]:
    sessions.end(table(), token_of(app.current_event.raw_event))
    return nothing()


@app.delete("/sessions", **describe("Sign out everywhere", None, who="member", status=204))
def sign_out_everywhere() -> Response[Any]:
    sessions.end_all(table(), caller(app.current_event.raw_event).username)
    return nothing()


@app.get("/me", **describe("One's own account", "User", who="member"))
def me() -> Response[Any]:
    return json_answer(documents.user(_me()))


@app.patch("/me", **describe("Change one's account", "User", who="member", errors=[400, 409, 413, 415, 422]))
def change_me(change: Annotated[AccountChange, Body()]) -> Response[Any]:
    user = _me()
    if change.password is not None:
        _check_current_password(user, change.current_password or "")
    if change.email is not None:
        users.change_email(table(), user, change.email)
    if change.name is not None:
        users.rename(table(), user.username, change.name)
    if change.password is not None:
        users.change_password(table(), user.username, hash_password(change.password))
    return json_answer(documents.user(_me()))


@app.delete("/me", **describe("Remove one's account and all that is one's own", None, who="member", status=204))
def remove_me() -> Response[Any]:
    users.remove(table(), _me())
    return nothing()


def _me() -> User:
    try:
        return users.get(table(), caller(app.current_event.raw_event).username, consistent=True)
    except NoSuchUser as error:
        raise NotSignedIn from error


def _check_current_password(user: User, password: str) -> None:
    """Hold a password against an account's. A stolen session guesses no faster than anyone. Raises SlowDown."""
    now, origin = times.now(), address(app.current_event.raw_event)
    attempts.begin(table(), user.username, origin, now)
    if not verify_password(user.password_hash, password):
        raise WrongCurrentPassword
    attempts.succeed(table(), user.username, origin, now)


def _username(text: str) -> str:
    try:
        return normalise_username(text)
    except ValueError as error:
        raise WrongPassword from error


def _user_with_password(username: str, password: str) -> User:
    """The user of that name and password. It takes as long to find that there is no such user. Raises WrongPassword."""
    try:
        user = users.get(table(), username, consistent=True)
    except NoSuchUser:
        user = None
    if not verify_password(user.password_hash if user else None, password) or user is None:
        raise WrongPassword
    return user


handler = serve(app)
