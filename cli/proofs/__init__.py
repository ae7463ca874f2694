"""Proofs of assumptions about AWS: each runs on a deployed stage and reports what it observed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import boto3
import urllib3
from botocore.config import Config

from infra.stage import Stage
from shared.dynamodb.client import connect
from shared.dynamodb.table import Table


class Fails(Exception):
    """A proof's observation contradicts the claim."""


class NotHere(Exception):
    """The reason why a stage can't prove something."""


class NotAsked(Exception):
    """The reason why a claim was not tested, such as a missing right of the caller. It says nothing about the claim."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """A deployed stage: its settings, its stack's outputs, boto3's arguments for it, and this run's name."""

    stage: Stage
    outputs: Mapping[str, str]
    arguments: Mapping[str, Any]
    run: str

    def client(self, service: Any, **more: Any) -> Any:
        """A client, by default without retries."""
        once = Config(retries={"mode": "standard", "total_max_attempts": 1})
        return boto3.client(service, **{"config": once, **self.arguments, **more})

    @property
    def table(self) -> Table:
        return connect(self.outputs["TableName"], **self.arguments)


def nothing(_: Deployed) -> list[str]:
    """The remains of a proof that creates nothing, or only items that expire."""
    return []


class Proof(NamedTuple):
    """A proof, its maximum of seconds, and what the local cloud can't show.

    ``blind``: the local cloud doesn't do what is claimed, so a failure there says nothing. ``tidy`` removes what a
    killed run left, and names it.
    """

    prove: Callable[[Deployed], str]
    seconds: int
    emulator: str
    blind: bool = False
    tidy: Callable[[Deployed], list[str]] = nothing


def wait(seconds: float, look: Callable[[], Any]) -> Any:
    """The first result of ``look`` that is true, or its last one after some seconds."""
    until = time.monotonic() + seconds
    while not (found := look()) and time.monotonic() < until:
        time.sleep(1)
    return found


def ask(method: str, url: str, **more: Any) -> tuple[int, str]:
    """An answer's status and text, also for an error."""
    answer = urllib3.request(method, url, timeout=30, retries=False, **more)
    return answer.status, answer.data.decode(errors="replace")
