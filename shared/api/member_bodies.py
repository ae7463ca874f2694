"""Bodies of requests to sign up, to sign in and to change an account (pydantic models)."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from shared.api.fields import HIDDEN, LINE, Body, documented, line, plain
from shared.models.members import Pace
from shared.values.naming import normalise_email, normalise_username
from shared.values.passwords import is_common


def _uncommon(password: str) -> str:
    if is_common(password):
        raise ValueError("must not be one of the passwords that are guessed first")
    return password


_USERNAME = documented(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,28}[A-Za-z0-9])?")
_EMAIL = documented(r"[A-Za-z0-9.!$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63})+")

Username = Annotated[
    str,
    Field(min_length=1, max_length=64, json_schema_extra=_USERNAME),
    AfterValidator(line),
    AfterValidator(normalise_username),
]
Email = Annotated[
    str,
    Field(min_length=3, max_length=254, json_schema_extra=_EMAIL),
    AfterValidator(line),
    AfterValidator(normalise_email),
]
# White space in a password counts, also around it.
Password = Annotated[
    str,
    Field(min_length=10, max_length=200, json_schema_extra={"pattern": f"^[^{HIDDEN}]*$"}),
    AfterValidator(plain),
    AfterValidator(_uncommon),
]
AnyPassword = Annotated[str, Field(min_length=1, max_length=200)]
PersonName = Annotated[str, Field(min_length=1, max_length=100, json_schema_extra=LINE), AfterValidator(line)]


class NewUser(Body):
    """Sign up."""

    username: Username
    email: Email
    password: Password
    name: PersonName


class SignIn(Body):
    """Sign in."""

    username: Annotated[
        str, Field(min_length=1, max_length=254, description="The username or the email address, in any case.")
    ]
    password: AnyPassword


class AccountChange(Body):
    """Change your account. A new password or email address requires the current password."""

    name: PersonName | None = None
    email: Email | None = None
    password: Password | None = None
    current_password: AnyPassword | None = None
    hot_pace: Annotated[Pace | None, Field(strict=False, description="When to notify of hot deals.")] = None

    @model_validator(mode="after")
    def _names_the_current_password(self) -> Self:
        if (self.password is not None or self.email is not None) and self.current_password is None:
            raise ValueError("currentPassword must be given to change the password or the email address")
        return self
