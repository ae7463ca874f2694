"""AWS as proofs of its behaviour meet it: clients and addresses whose answers a test makes up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from cli import proofs
from cli.proofs import Deployed
from infra.settings import STAGES
from infra.stage import Stage
from tests.support.engines import FAKE_CREDENTIALS

DEV = STAGES["dev"]
OUTPUTS = {
    "TableName": "deals",
    "ApiUrl": "https://api.example/v1/",
    "CdnUrl": "https://cdn.example/v1/",
    "MailQueueUrl": "queue",
}

Asked = tuple[str, Mapping[str, Any]]


def refusal(code: str, **more: Any) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": code}, **more}, "Any")  # type: ignore[typeddict-item]


class Aws:
    """Clients whose answers a test makes up, by operation; it keeps what they were asked."""

    exceptions = SimpleNamespace(TransactionCanceledException=ClientError)

    def __init__(self, **answers: Callable[..., Any]) -> None:
        self.answers, self.asked = answers, list[Asked]()

    def __call__(self, _service: str, **_: Any) -> Aws:
        return self

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def answer(**asked: Any) -> Any:
            self.asked.append((operation, asked))
            return self.answers[operation](**asked)

        return answer

    def get_paginator(self, operation: str) -> Any:
        """Pages of an operation: its answer, or each of a list of answers."""

        def paginate(_: Any, **asked: Any) -> list[Any]:
            answer = self.answers[operation](**asked)
            return answer if isinstance(answer, list) else [answer]

        return type("Paginator", (), {"paginate": paginate})()

    def operations(self) -> list[str]:
        return [operation for operation, _ in self.asked]


@pytest.fixture
def meets(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Deployed]:
    """A stage whose clients are made up."""

    def made(aws: Aws, stage: Stage = DEV) -> Deployed:
        monkeypatch.setattr(Deployed, "client", lambda _, service, **more: aws(service, **more))
        monkeypatch.setattr(Deployed, "table", type("Named", (), {"client": aws, "name": "deals"})())
        return Deployed(stage, OUTPUTS, FAKE_CREDENTIALS, "0123")

    return made


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Callable[[Mapping[str, Sequence[tuple[int, str]]]], list[str]]:
    """Answers by the addresses that are asked, one after the other; returns the addresses that were."""

    def made(by_address: Mapping[str, Sequence[tuple[int, str]]]) -> list[str]:
        left: dict[str, Iterator[tuple[int, str]]] = {address: iter(some) for address, some in by_address.items()}
        asked: list[str] = []

        def ask(_method: str, url: str, **_: Any) -> tuple[int, str]:
            asked.append(url)
            return next(left[url])

        monkeypatch.setattr(proofs, "ask", ask)
        return asked

    return made
