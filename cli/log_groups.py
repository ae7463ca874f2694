"""The functions' logs: the lines of a whole stack that hold a text, in the order in which they were written."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from shared.errors import Unavailable


@dataclass(frozen=True, slots=True)
class Line:
    """One line that a function has logged, as the JSON that it is."""

    at: datetime
    fields: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Logs:
    """The log groups whose name holds the name of a stack."""

    stack: str
    client: Any

    def find(self, text: str, since: datetime) -> list[Line]:
        """The lines since a time that hold a text, which has no quotation marks. Reads every group once. Raises
        Unavailable."""
        found = [line for group in self._groups() for line in self._lines(group, text, since)]
        return sorted(found, key=lambda line: line.at)

    def _groups(self) -> Iterator[str]:
        for page in self._pages("describe_log_groups", logGroupNamePattern=self.stack):
            yield from (group["logGroupName"] for group in page["logGroups"])

    def _lines(self, group: str, text: str, since: datetime) -> Iterator[Line]:
        begins = int(since.timestamp() * 1000)
        for page in self._pages("filter_log_events", logGroupName=group, filterPattern=f'"{text}"', startTime=begins):
            for event in page["events"]:
                at = datetime.fromtimestamp(event["timestamp"] / 1000, UTC)
                yield Line(at, _fields(event["message"]))

    def _pages(self, operation: str, **arguments: Any) -> Iterator[Mapping[str, Any]]:
        try:
            yield from self.client.get_paginator(operation).paginate(**arguments)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"The logs cannot be read: {error}") from error


def connect(stack: str, **client_arguments: Any) -> Logs:
    """The logs of a stack, with the credentials that the environment gives boto3."""
    return Logs(stack, boto3.client("logs", **client_arguments))


def _fields(text: str) -> Mapping[str, Any]:
    """The fields of a log line. Lambda's own lines, such as of a timeout, are not JSON."""
    try:
        fields = json.loads(text)
    except ValueError:
        fields = None
    return fields if isinstance(fields, dict) else {"message": text.strip()}
