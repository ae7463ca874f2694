"""What requests carry in addition to their path, checked: bodies as pydantic models, idempotency keys, confirmed
warnings.

Only functions that take bodies import this, and pydantic with it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from pydantic import BaseModel, ValidationError

from shared.api.app import calling
from shared.data.catalog.editing import FIELDS
from shared.data.idempotency import Idempotency
from shared.errors import BadRequest, Invalid, NotJson
from shared.http.answers import reason
from shared.http.requests import MAX_CLIENT_KEY, header, is_client_key, media_type

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response
    from aws_lambda_powertools.event_handler.api_gateway import BaseRouter


B = TypeVar("B", bound=BaseModel)

MAX_UNKNOWN = 20
"""Unknown fields that an answer names."""

MAX_NAME = 100
"""Characters of a field's name that an answer repeats."""

MAX_DETAIL = 1000
"""Characters of a sentence that names several fields."""


class InvalidBody(Invalid):
    """A body whose fields cannot be used. ``faults`` names each by its path, such as ``dealIds.2``, and says why."""

    faults: Sequence[tuple[str, str]] = ()

    def __init__(self, found: Sequence[Mapping[str, Any]]) -> None:
        self.faults = [
            (".".join(str(step)[:MAX_NAME] for step in entry["loc"]) or "body", reason(entry))
            for entry in _bounded(found)
        ]
        super().__init__("; ".join(f"{field}: {why}" for field, why in self.faults)[:MAX_DETAIL])


def checked(model: type[B], sent: Any, *, typed: bool = False) -> B:
    """A body as a model. Raises InvalidBody. In fields that were ``typed``, a number is a text of digits."""
    try:
        return model.model_validate(sent, strict=False if typed else None)
    except ValidationError as error:
        raise InvalidBody(error.errors(include_url=False, include_context=False, include_input=False)) from error


def with_body(app: APIGatewayRestResolver, answer: Callable[..., Response[Any]]) -> Response[Any]:
    """Middleware: a handler's argument that is a model is made of the body. Raises NotJson, InvalidBody."""
    for name, model in models(app.context["_route"].func).items():
        if media_type(app.current_event.raw_event) not in ("", "application/json"):
            raise NotJson
        sent = app.current_event.json_body
        if sent is None:
            raise InvalidBody([{"type": "missing", "loc": (), "msg": ""}])
        app.context["_route_args"][name] = checked(model, sent)
    return answer(app)


@cache
def models(handler: Callable[..., Any]) -> dict[str, type[BaseModel]]:
    """The arguments of a handler that are models of its body: one, or none."""
    hints = {name: hint for name, hint in get_type_hints(handler).items() if isinstance(hint, type)}
    return {name: hint for name, hint in hints.items() if issubclass(hint, BaseModel)}


def _bounded(found: Sequence[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """The errors of a body, with at most ``MAX_UNKNOWN`` of its unknown fields: it may have thousands."""
    unknown = 0
    for entry in found:
        unknown += entry["type"] == "extra_forbidden"
        if entry["type"] != "extra_forbidden" or unknown <= MAX_UNKNOWN:
            yield entry


CONFIRM = rf"^({'|'.join(FIELDS)})(,({'|'.join(FIELDS)}))*$"
"""The query parameter ``confirm``: the fields whose warnings an editor has seen and confirms."""


def confirmed_fields(app: BaseRouter) -> Sequence[str]:
    """The fields whose warnings a request confirms by ``confirm``, or ``anyway`` as in 1.1.0. Raises BadRequest for
    other names."""
    query = app.current_event.query_string_parameters or {}
    name = next((each for each in ("confirm", "anyway") if each in query), None)
    if name is None:
        return ()
    if not re.fullmatch(CONFIRM, query[name]):
        raise BadRequest(f"{name} must name fields, separated by commas: {', '.join(FIELDS)}.", name)
    return query[name].split(",")


def idempotency(app: BaseRouter, asked: dict[str, Any]) -> Idempotency | None:
    """The idempotency of a request, which asks for ``asked``; None where there is no key.

    Raises BadRequest for an invalid key, NotSignedIn.
    """
    key = header(app.current_event.raw_event, "idempotency-key")
    if key is None:
        return None
    if not is_client_key(key):
        detail = f"Idempotency-Key must have 1 to {MAX_CLIENT_KEY} printable ASCII characters."
        raise BadRequest(detail, "Idempotency-Key")
    return Idempotency(calling(app).account_id, key, asked)
