"""Domain errors. ``shared/http/answers.py`` maps them to status codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared.models.members import User


class DealsError(Exception):
    """Base of every error the domain raises. ``field`` names the input at fault, where one is.

    ``errors`` says why, by field, where several may be at fault. ``text`` is what an error says, with a place for each
    thing that it is about; without places, another sentence may be given. ``plain`` is what pages say instead, where
    ``text`` names an id that the reader never typed.
    """

    field: str | None = None
    errors: Mapping[str, str] = MappingProxyType({})
    text = ""
    plain = ""

    def __init__(self, *about: object) -> None:
        text = "{}" if about and "{" not in self.text else self.text
        super().__init__(text.format(*about))

    @property
    def faults(self) -> Sequence[tuple[str, str]]:
        """Each input at fault, and why."""
        return [*self.errors.items()] or ([(self.field, str(self))] if self.field else [])


class NotFound(DealsError):
    """No such thing."""


class NoSuchDeal(NotFound):
    plain = "There is no such deal."
    text = "There is no deal {!r}."


class NoSuchDeals(NotFound):
    field = "dealIds"

    def __init__(self, deal_ids: Sequence[str]) -> None:
        self.deal_ids = tuple(deal_ids)
        super().__init__(f"There are no deals {', '.join(deal_ids)}.")


class NoSuchTopic(NotFound):
    def __init__(self, label: str, slug: str) -> None:
        self.field = label
        super().__init__(f"There is no {label} {slug!r}.")


class NoSuchUser(NotFound):
    text = "There is no user {!r}."


class NoSuchSession(NotFound):
    plain = "There is no such session. It may have ended."
    text = "You have no session {!r}."


class NoSuchMessage(NotFound):
    plain = "There is no such message in your inbox."
    text = "You have no message {!r}."


class NoSuchPath(NotFound):
    text = "There is nothing at this address."


class NoSuchAlert(NotFound):
    plain = "You have no such alert."

    def __init__(self, alert_id: str) -> None:
        self.alert_id = alert_id
        super().__init__(f"There is no alert {alert_id!r}.")


class Conflict(DealsError):
    """The request conflicts with the current state."""


class DealIsOver(Conflict):
    plain = "This deal has ended or was withdrawn."
    text = "The deal {!r} has ended or was withdrawn."


class DealIsOdd(Conflict):
    """A deal has warnings that its editor hasn't confirmed: ``warnings`` has them by field."""

    def __init__(self, warnings: Mapping[str, str]) -> None:
        self.errors = self.warnings = dict(warnings)
        how = f"If it is right, send it again with confirm={','.join(self.warnings)}."
        super().__init__(" ".join(("Nothing was written.", *self.warnings.values(), how)))


class EditedMeanwhile(Conflict):
    """Another editor changed it since it was read. ``version`` is the current one."""

    def __init__(self, version: int) -> None:
        self.version = version
        super().__init__("Another editor changed this while you were editing.")


class TooLateToUndo(Conflict):
    def __init__(self, within: str = "a minute") -> None:
        super().__init__(f"It can be undone for {within}, as long as nothing else has happened since.")


class StillNeeded(Conflict):
    """An account can't be removed while something of it is unfinished."""


class TooManyAlerts(Conflict):
    text = "You cannot have more than {} alerts: remove one first."


class AlreadyExists(Conflict):
    """Something that must be unique exists already."""


class DealExists(AlreadyExists):
    field = "sourceId"
    text = "The deal {!r} already exists."


class BrandExists(AlreadyExists):
    field = "name"
    text = "The brand {!r} already exists."


class UsernameTaken(AlreadyExists):
    field = "username"
    text = "The username {!r} is taken."


class EmailTaken(AlreadyExists):
    field = "email"
    text = "An account with this email address already exists."


class AlreadyLiked(Conflict):
    """The user likes this already; nothing was counted."""


class NotLiked(Conflict):
    """The user does not like this; nothing was counted."""


class AlreadyWatching(Conflict):
    """The user watches this already; nothing was counted."""


class NotWatching(Conflict):
    """The user does not watch this; nothing was counted."""


class WrongMethod(DealsError):
    """The address doesn't accept the method. GET answers HEAD, too."""

    def __init__(self, methods: Sequence[str]) -> None:
        self.allowed = ", ".join("GET, HEAD" if method == "GET" else method for method in methods)
        super().__init__("This address does not accept this method.")


class Invalid(DealsError):
    """An invalid value."""


class InvalidName(Invalid):
    field = "name"


class InvalidTime(Invalid):
    field = "createdAt"
    text = "A deal must not be created in the future."


class WrongCurrentPassword(Invalid):
    field = "currentPassword"
    text = "The current password is wrong."


class WrongFeaturedCount(Invalid):
    field = "dealIds"


class IdempotencyKeyReused(Invalid):
    field = "Idempotency-Key"
    text = "This Idempotency-Key was used for a different request in the last 24 hours."


class InvalidInput(Invalid):
    """Several invalid fields."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        self.errors = dict(errors)
        super().__init__(" ".join(f"{name}: {reason}" for name, reason in self.errors.items()))


class InvalidLimits(InvalidInput):
    """Invalid limits of a watch or an alert."""


class NotAnObject(Invalid):
    field = "body"
    text = "The body must be a JSON object."


class BadRequest(DealsError):
    """The request itself is malformed. ``field`` names the parameter or header at fault, where one is."""

    def __init__(self, detail: str, field: str | None = None) -> None:
        self.field = field
        super().__init__(detail)


class NotJson(DealsError):
    text = "The body must be JSON, sent with Content-Type: application/json."


class NotAForm(DealsError):
    text = "Send the fields of a form."


class InvalidCursor(DealsError):
    plain = "This page of the list does not exist."
    field = "cursor"
    text = "This cursor does not belong to this list."


class NotSignedIn(DealsError):
    text = "There is no valid session: sign in."


class WrongPassword(NotSignedIn):
    """``account_id`` is for the audit alone: the answer doesn't reveal whether there is an account."""

    text = "Username, email address or password is wrong."

    def __init__(self, account_id: str | None = None) -> None:
        self.account_id = account_id
        super().__init__()


class Forbidden(DealsError):
    """Signed in, but not allowed to do this."""


class SecondStep(Forbidden):
    """The password is right, but this account's users need more than a password to sign in: ``user`` is it."""

    text = "Signing in to this account takes a second step: sign in on the site. Programs use a token made there."

    def __init__(self, user: User) -> None:
        self.user = user
        super().__init__()


class SlowDown(DealsError):
    """Too many attempts. ``retry_after`` is in seconds."""

    def __init__(self, retry_after: int) -> None:
        self.retry_after = retry_after
        super().__init__(f"Too many attempts; try again in {retry_after} seconds.")


class Impossible(DealsError):
    """DynamoDB rejected the request as invalid: a bug of ours, which retrying doesn't help."""


class Damaged(Impossible):
    """An item that cannot be read, as after a write by hand. ``name`` is its key, or a deal's id."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        super().__init__(f"The item {name!r} is damaged: {why}")


class DamagedDeal(Damaged):
    """A deal's item that cannot be read. ``name`` is the deal's id."""


class Unexpected(Impossible):
    """An unexpected fault of ours, logged under the request's correlation id."""

    text = "Something went wrong and was logged. The id of the request is {}."


class Unavailable(DealsError):
    """The table cannot answer now. ``shown`` is for the reader; the rest is for the log."""

    shown = "The site is busy; try again in a moment."


class Busy(Unavailable):
    """Conflicts or throttling outlasted the retries. Nothing was written."""


class NoAnswer(Unavailable):
    """No answer came, or an unreadable one: the request may or may not have been carried out."""


class AccountChanged(Unavailable):
    """An account has changed since it was read. Nothing was written. Read it again before trying again."""

    text = shown = "The account has just changed; try again."


class PerhapsPosted(Unavailable):
    """It is unknown whether the deal was posted; without an idempotency key, a repetition could post it twice."""

    shown = (
        "The site is busy. The deal may have been posted: look for it before you post it again. With an "
        "Idempotency-Key, you can repeat the request safely."
    )


class TooManyCohorts(Unavailable):
    """A fan-out took more steps than any list of readers can need, so it is stopped."""

    text = "Cohort {} of a list of readers is one too many."


class NotSeeded(Unavailable):
    text = "The table has not been seeded: run `btd seed` or deploy the stack."


class TooLarge(DealsError):
    """More than may be stored."""


class BrandsAreFull(TooLarge):
    text = "No brand can be added: the item that lists all brands is full."


class DealTooLarge(TooLarge):
    def __init__(self, size: int, most: int) -> None:
        self.size = size
        super().__init__(f"A deal must have at most {most} bytes; this one has {size}.")


class BodyTooLarge(TooLarge):
    text = "A request must have at most {} bytes."
