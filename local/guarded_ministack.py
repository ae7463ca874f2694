"""MiniStack behind the guard of ``local.guard``, and with our patches.

It also answers the features' laptop-only pages, reports the functions' outstanding work and dead letters (``WAITING``),
for which ``make stop`` waits because streams start over with each start, and reads streams as Lambda does
(``ministack_patches``).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from infra.settings import STAGES
from local.guard import THIS_MACHINE, Answer, Asked, as_json, guarded
from local.settings import STAGE
from shared import features, hooks

SITE_PATH = "/_aws/execute-api/"
OTHER_PATH = "/restapis/"
"""The beginnings of an API's addresses by path: ours, and one that is also the gateway's own administration."""

WAITING = "/_local/waiting"
"""Counts the functions' outstanding records and messages, and dead letters. It needs the checkout's key."""

DEAD_LETTERS = "DeadLetters"
"""The common part of dead-letter queues' names."""

COPIES = 20
"""Attempts to copy a service's state: it changes once a minute, and a copy takes seconds."""


@dataclass(frozen=True, slots=True)
class MiniStack:
    """What the guard must know of the cloud, as MiniStack keeps it in this process.

    There is no other access; tests fail if another version of MiniStack keeps it elsewhere.
    """

    key: str

    def issued(self, key: str) -> bool:
        """Whether MiniStack issued a key to a role. It checks the signature itself, and whether they have expired."""
        from ministack.services import sts  # type: ignore[import-untyped]  # noqa: PLC0415  # no types, and a second

        return key in vars(sts)["_sessions"]

    def has_page(self, origin: str, host: str) -> bool:
        """Whether pages of an origin are those of a deployed API or site, at the port of this cloud."""
        from ministack import app  # type: ignore[import-untyped]  # noqa: PLC0415  # the same
        from ministack.services import apigateway_v1  # noqa: PLC0415  # the same

        scheme, _, site = origin.partition("://")
        if scheme != "http" or site.rpartition(":")[2] != host.rpartition(":")[2]:
            return False
        parsed = vars(app)["_parse_execute_api_url"](site, "/")
        if parsed is not None:
            return apigateway_v1.find_api_scope(parsed[0]) is not None
        return vars(app)["_resolve_custom_domain_request"](site, "/") is not None

    def public_path(self, host: str, path: str) -> str | None:
        """The path of a deployed API's or site's address: a site's, by its API's id."""
        from ministack import app  # noqa: PLC0415  # the same
        from ministack.services import apigateway_v1  # noqa: PLC0415  # the same

        if path.startswith(OTHER_PATH):
            return None
        parsed = vars(app)["_parse_execute_api_url"](host, path)
        if parsed is not None:
            api, stage, _ = parsed
            return path if stage in apigateway_v1.stages_for_api(api) else None
        mapped = vars(app)["_resolve_custom_domain_request"](host, path)
        if mapped is None:
            return None
        api, stage, rest = mapped
        return f"{SITE_PATH}{api}/{stage}{rest}"

    def bucket(self, asked: Asked) -> tuple[str, str] | None:
        """The existing bucket and the key that a request to S3 names."""
        from ministack import app  # noqa: PLC0415  # the same
        from ministack.core.router import detect_service  # type: ignore[import-untyped]  # noqa: PLC0415  # the same

        if detect_service(asked.method, asked.path, dict(asked.headers), {}) != "s3":
            return None
        by_path = THIS_MACHINE.fullmatch(asked.host) is not None
        found: tuple[str, str] | None = vars(app)["_s3_cors_target"](asked.host, asked.path, by_path)
        return found

    def page(self, host: str, path: str) -> Answer | None:
        """A feature's laptop-only page, at the site's own name."""
        domain = STAGES[STAGE].domain
        shows = _shown_at(path) if domain and host.partition(":")[0] == domain.name else None
        return shows(path) if shows else None

    def own_answer(self, path: str) -> Answer | None:
        """The outstanding work, which MiniStack doesn't tell."""
        return as_json(waiting()) if path == WAITING else None


def _shown_at(path: str) -> Callable[[str], Answer] | None:
    """A feature's function for a laptop-only path."""
    known = [each for of in features.roles(hooks.Local) for each in of.PAGES.items()]
    return next((show for start, show in known if f"{path}/".startswith(f"{start}/")), None)


def waiting() -> dict[str, int]:
    """Outstanding records and messages, and dead letters, as MiniStack counts them.

    A record counts until its function has ended, a message until it is deleted, so nothing that a function still writes
    or sends is missed.
    """
    from ministack.services import (  # noqa: PLC0415  # they take a second
        dynamodb,
        lambda_svc,
        sqs,
    )

    # There is no other access; a test fails if another version of MiniStack keeps them elsewhere.
    mappings, positions = (getattr(lambda_svc, name) for name in ("_esms", "_dynamodb_stream_positions"))
    queues = vars(sqs)["_queues"]
    records = messages = 0
    held = [queues.get(name) or {} for name in list(queues)]
    sources = {name: mappings.get(name) or {} for name in list(mappings)}
    read = {each.get("EventSourceArn") for each in sources.values()}
    for name, mapping in sources.items():
        source = mapping.get("EventSourceArn", "")
        if not mapping.get("Enabled", True):
            continue
        if "/stream/" in source:
            end = dynamodb.stream_end_position(source.split("/stream/")[0].split("/")[-1])
            records += max(0, end - positions.get(name, 0))
        elif ":sqs:" in source:
            messages += sum(len(each["messages"]) for each in held if _arn(each) == source)
    dead = sum(len(each["messages"]) for each in held if DEAD_LETTERS in _arn(each) and _arn(each) not in read)
    return {"records": records, "messages": messages, "dead": dead}


def _arn(queue: dict[str, Any]) -> str:
    return str(queue.get("attributes", {}).get("QueueArn"))


def save_all(services: Mapping[str, Callable[[], Any]]) -> None:
    """Save the state of services, instead of MiniStack.

    MiniStack skips a service whose state changes during the copy, which only its log says, and so loses everything
    since the last stop. Its table changes by itself, because a thread removes expired items each minute.
    """
    from ministack.core import persistence  # type: ignore[import-untyped]  # noqa: PLC0415  # it has no types

    persistence.save_all({name: partial(_unchanging, state) for name, state in services.items()})


def _unchanging(state: Callable[[], Any]) -> Any:
    """A service's state, copied again if it changed meanwhile. Raises RuntimeError after ``COPIES`` attempts."""
    for _ in range(COPIES - 1):
        with suppress(RuntimeError):
            return state()
    return state()


def serve(cloud: MiniStack) -> None:
    """Serve MiniStack as ``python -m ministack`` does, behind the guard and with our patches."""
    import ministack.app  # type: ignore[import-untyped]  # noqa: PLC0415  # no types, and a second
    from ministack.core.router import extract_access_key_id  # noqa: PLC0415  # the same

    from local import ministack_patches  # noqa: PLC0415  # it imports MiniStack

    ministack_patches.read_streams()
    ministack_patches.share_unpacked()
    ministack_patches.bound_answers()
    ministack_patches.key_credentials(os.environ["AWS_SECRET_ACCESS_KEY"])
    ministack_patches.refuse_unsigned_forms()
    ministack.app.save_all = save_all
    ministack.app.app = guarded(ministack.app.app, cloud, extract_access_key_id)
    ministack.app.main()


def main() -> None:
    """Serve the checkout's cloud."""
    serve(MiniStack(os.environ["AWS_ACCESS_KEY_ID"]))


if __name__ == "__main__":
    main()
