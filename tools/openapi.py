"""Generate the OpenAPI 3.1 document from the apps' routes: ``python -m tools.openapi`` writes ``openapi.json``.

A test compares the written document with the routes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler.openapi.models import Schema
from pydantic import BaseModel, create_model
from pydantic.alias_generators import to_camel
from pydantic.json_schema import models_json_schema

from functions.api import accounts, catalog, editors, members
from shared import features, hooks
from shared.api import bodies, fields, member_bodies, posting, schemas
from shared.api.app import ROOT, brand_path, deal_path, problem_answer
from shared.data.catalog.search import COMPLETIONS
from shared.data.catalog.words import MOST_CHARACTERS, MOST_WORDS
from shared.data.idempotency import LIFETIME
from shared.http.requests import DEFAULT_PAGE, MAX_CLIENT_KEY, MAX_PAGE
from shared.models.catalog import Sort
from shared.values import identifiers, money

PATH = Path(__file__).resolve().parent.parent / "functions" / "api" / "openapi.json"
POWERTOOLS_OWN = "ValidationError"
"""A part of the names of Powertools' schemas for invalid bodies, which our problem documents replace."""

_REFERENCE = "#/components/schemas/{model}"

BODY_ERRORS = (400, 413, 415, 422)
"""The statuses for an invalid body, on each route with a body model."""

WITHOUT_BODY = {"204", "304"}
"""Statuses without a body, whatever Powertools infers from a handler's return type."""


def _of_features(part: str) -> Mapping[Any, Any]:
    """Features' additions to a part of the rules."""
    return features.merged(hooks.Answers, lambda each: each.OPENAPI.get(part, {}))


def _parameter(description: str, place: str = "query", **schema: Any) -> dict[str, Any]:
    return {"in": place, "schema": {"type": "string", **schema}, "description": description}


PARAMETERS: dict[str, dict[str, Any]] = {
    "limit": _parameter(
        "The maximum number of items on the page.", type="integer", minimum=1, maximum=MAX_PAGE, default=DEFAULT_PAGE
    ),
    "cursor": _parameter("The `next` of the previous page."),
    "q": _parameter(
        f"Only deals with these words in title, brand or category, {MOST_WORDS} at most, in their first "
        f"{MOST_CHARACTERS} characters. The last also stands for the {COMPLETIONS} most frequent words that begin so. "
        "Without a word it is refused."
    ),
    "unread": _parameter("Only unread messages.", type="boolean", default=False),
    **{
        name: _parameter(
            f"Only deals at this price or {side} it. A page may then have fewer deals than `limit`, or none, though it "
            "has a `next`.",
            pattern=f"^{money.PATTERN}$",
            examples=["79.90"],
        )
        for name, side in (("from", "above"), ("to", "below"))
    },
    "sort": _parameter(
        "Newest first, cheapest first, or biggest discount first (only deals that have a discount).",
        enum=list(Sort),
        default=Sort.NEWEST,
    ),
    "currency": _parameter(
        "Only deals in this currency. A page sorted by price or discount, or limited by price, has deals of one "
        "currency: if you name none, the one of most of the newest deals, or the site's first one if that has more.",
        pattern=f"^{money.CODE}$",
    ),
    "off": _parameter(
        "Only deals with at least this discount, in percent off the list price. A page may then have fewer deals.",
        type="integer",
        minimum=1,
        maximum=99,
    ),
    "lowest": _parameter(
        "Only deals whose price is the lowest of their product's in 60 days (`verdict`). A page may then have fewer "
        "deals.",
        type="boolean",
        default=False,
    ),
    "brand": _parameter("Only deals of this brand, by its slug or its name."),
    "confirm": _parameter(
        "A deal that ends in the past, or whose price is not below its list price, is refused with 409, "
        "unless this lists the fields that the refusal names, separated by commas. A new deal that is too old to be "
        "news (`createdAt`) needs no confirmation.",
        pattern=posting.CONFIRM,
    ),
    "Idempotency-Key": _parameter(
        f"Repeating a request with the same key within {LIFETIME // timedelta(hours=1)} hours does nothing twice.",
        "header",
        minLength=1,
        maxLength=MAX_CLIENT_KEY,
        pattern="^[ -~]+$",
    ),
    **_of_features("parameters"),
}
OF_PATHS: Mapping[tuple[str, str], dict[str, Any]] = _of_features("of_paths")
"""A parameter of one path that differs from :data:`PARAMETERS`."""

HEADERS = {
    "CacheControl": ("Who may cache the answer, and for how many seconds.", "^(public|private), max-age="),
    "NoStore": ("No cache may store the answer.", "^no-store$"),
    "ETag": ("The version of the answer. Send it back as If-None-Match.", '^W/"[0-9a-f]{32}"$'),
    "Vary": ("The request headers that the answer depends on.", "^Accept-Encoding$"),
    "Authenticate": ("How to authenticate: with a bearer token.", "^Bearer$"),
    "RetryAfter": ("Seconds to wait before trying again.", "^[1-9][0-9]*$"),
    "DealLocation": ("The address of the new deal.", f"^{deal_path(identifiers.KSUID)}$"),
    **_of_features("headers"),
    "BrandLocation": ("The address of the new brand.", f"^{brand_path('[a-z0-9-]+')}$"),
}
"""The headers that a client may rely on."""

LOCATED = {
    ("post", "/deals"): "DealLocation",
    ("post", "/brands"): "BrandLocation",
    **_of_features("located"),
}
"""Routes that create something with an address."""

EXPLAINED = {
    "401": {"WWW-Authenticate": "Authenticate"},
    "429": {"Retry-After": "RetryAfter"},
    "503": {"Retry-After": "RetryAfter"},
}
"""Headers that tell the client how to react to an error."""


def document() -> dict[str, Any]:
    """The OpenAPI document of all functions behind the API."""
    paths: dict[str, dict[str, Any]] = {}
    components: dict[str, Any] = {}
    for app in (catalog.app, accounts.app, members.app, *(each.app for each in features.roles(hooks.Api)), editors.app):
        generated = app.get_openapi_schema(title="", version="").model_dump(
            mode="json", by_alias=True, exclude_none=True
        )
        components |= generated.get("components", {}).get("schemas", {})
        for path, operations in generated["paths"].items():
            for method, operation in operations.items():
                paths.setdefault(_camel_path(path), {})[method] = _tidy(operation, path, method)
    named = {_model(name) for name in re.findall(r'"#/components/schemas/(\w+)"', json.dumps(paths))}
    _, answers = models_json_schema([(model, "serialization") for model in named if model], ref_template=_REFERENCE)
    components |= answers["$defs"]
    _extend(components)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Big Time Deals",
            "version": "1",
            "description": "Deals, brands and categories to read, like and watch; messages about new and hot deals.",
        },
        "servers": [{"url": ROOT}],
        "paths": dict(sorted(paths.items())),
        "components": {
            "schemas": {name: components[name] for name in sorted(components) if POWERTOOLS_OWN not in name},
            "headers": {
                name: {"description": description, "required": True, "schema": {"type": "string", "pattern": pattern}}
                for name, (description, pattern) in HEADERS.items()
            },
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _all_answers() -> schemas.Models:
    """The answers of the core and of features, by the names of their schemas."""
    return features.merged(hooks.Answers, lambda each: each.ANSWERS, schemas.ANSWERS)


def _model(name: str) -> type[BaseModel] | None:
    """The model of a schema's name, if it is an answer."""
    known = _all_answers().get(name)
    if isinstance(known, Mapping):
        required: dict[str, Any] = {field: (kind, ...) for field, kind in known.items()}
        return create_model(name, __base__=fields.Answer, **required)
    return known


def _additions(name: str) -> list[tuple[type[fields.Answer], str]]:
    """The models that extend an answer's schema, each with the property that their fields come before.

    An answer has the typed fields of deals if it says where (``typed_before``), and those of features at
    ``more_before``; an empty text is the end.
    """
    known = _all_answers().get(name)
    typed_before, more_before = (getattr(known, each, None) for each in ("typed_before", "more_before"))
    typed = [] if typed_before is None else [(schemas.Typed, typed_before)]
    names = {each.__name__ for each in getattr(known, "__mro__", ())}
    added = [each.ANSWERS.items() for each in features.roles(hooks.ApiFields)]
    more = [model for models in added for extended, model in models if extended in names]
    return typed + [(each, more_before) for each in more if more_before is not None]


def _extend(components: dict[str, Any]) -> None:
    """Add the fields of typed attributes and of features to the schemas of answers and of bodies."""
    for name in _all_answers().keys() & components.keys():
        for model, before in _additions(name):
            added = model.model_json_schema(mode="serialization", ref_template=_REFERENCE)
            components |= added.get("$defs", {})
            components[name] = _with_properties(components[name], added, before)
    for body in (bodies.DealChange, member_bodies.AccountChange):
        described = fields.extended(body).model_json_schema(ref_template=_REFERENCE)
        for name, schema in {body.__name__: described, **described.pop("$defs", {})}.items():
            if name == body.__name__ or name not in components:
                components[name] = Schema(**schema).model_dump(mode="json", by_alias=True, exclude_none=True)


def _with_properties(schema: dict[str, Any], added: dict[str, Any], before: str) -> dict[str, Any]:
    """An object's schema with the properties of another, before one of its own, or at the end."""
    names = list(schema["properties"])
    place = names.index(before) if before else len(names)
    names[place:place] = added["properties"]
    properties = schema["properties"] | added["properties"]
    required = {*schema.get("required", ()), *added.get("required", ())}
    return schema | {
        "properties": {name: properties[name] for name in names},
        "required": [name for name in names if name in required],
    }


def text() -> str:
    """The document as text, for the file."""
    return json.dumps(document(), indent=1, ensure_ascii=False, sort_keys=False) + "\n"


def _tidy(operation: dict[str, Any], path: str, method: str) -> dict[str, Any]:
    """An operation with our parameters and errors instead of Powertools', and a readable id."""
    extra, body = operation.pop("x-query"), operation.pop("x-body", None)
    if "requestBody" in operation:
        operation["responses"] |= {str(status): problem_answer(status) for status in BODY_ERRORS}
    if body:
        schema = {"$ref": f"#/components/schemas/{body}"}
        operation["requestBody"] = {"content": {"application/json": {"schema": schema}}}
    parameters = [
        {**parameter, "name": _public_name(path, parameter["name"]), "schema": {"type": "string"}}
        for parameter in operation.pop("parameters", [])
        if parameter["in"] == "path"
    ]
    parameters += [
        {"name": name, "required": False, **PARAMETERS[name], **OF_PATHS.get((path, name), {})} for name in extra
    ]
    operation["security"] = [] if operation["tags"] == ["anonymous"] else [{"bearer": []}]
    operation["operationId"] = _operation_id(path, method)
    if parameters:
        operation["parameters"] = parameters
    operation["responses"] = {
        status: {
            **({"description": answer["description"]} if status in WITHOUT_BODY else answer),
            "headers": _headers(status, (method, path), cached="304" in operation["responses"]),
        }
        for status, answer in sorted(operation["responses"].items())
        if POWERTOOLS_OWN not in json.dumps(answer)
    }
    return operation


def _headers(status: str, route: tuple[str, str], *, cached: bool) -> dict[str, Any]:
    """An answer's headers that a client may rely on."""
    names = {"Cache-Control": "NoStore", **EXPLAINED.get(status, {})}
    if cached and status in ("200", "304"):
        names = {"Cache-Control": "CacheControl", "ETag": "ETag", "Vary": "Vary"}
    if status == "201" and route in LOCATED:
        names["Location"] = LOCATED[route]
    return {header: {"$ref": f"#/components/headers/{name}"} for header, name in names.items()}


def _operation_id(path: str, method: str) -> str:
    """Such as ``putBrandsByBrandLike``."""
    words = []
    for part in re.split(r"[/\-.]", _camel_path(path).strip("/")):
        name = part.strip("{}")
        words.append(("By" if part != name else "") + name[0].upper() + name[1:])
    return method + "".join(words)


def _camel_path(path: str) -> str:
    return re.sub(r"[{<](\w+)[}>]", lambda match: "{" + _public_name(path, match[1]) + "}", path)


def _public_name(path: str, parameter: str) -> str:
    """A path parameter's public name; routes shared by brands and categories call theirs ``slug``."""
    if parameter == "slug":
        return "brand" if path.startswith("/brands/") else "category"
    return to_camel(parameter)


if __name__ == "__main__":
    PATH.write_text(text(), encoding="utf-8")
