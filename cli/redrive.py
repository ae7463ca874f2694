"""``btd redrive``: what failed for good is looked at and sent again; ``docs/failures.md`` says when to."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import boto3
import typer

from cli.connection import NoTable, local_cloud, open_table
from cli.dead_letters import Batch, Content, Replayer, Uploads, content_of
from cli.output import complain, say, show_json, show_rows
from cli.work import AsJson
from infra.functions import DEAD_LETTERS, QUEUES
from shared import sqs
from shared.data.members.cohorts import Unit
from shared.data.members.mail_work import MailWork, Report
from shared.errors import DealsError
from shared.sqs import Queue, Received
from shared.values.naming import counted

VARIABLES = {output: "BTD" + re.sub("[A-Z]", r"_\g<0>", output).upper() for output in QUEUES}
"""The stack's outputs, and the environment's names for them: ``QueueUrl`` is ``BTD_QUEUE_URL``."""

OF_MAIL = ("MailQueueUrl", "MailDeadLettersUrl")
"""Outputs that only a stage with mail has."""


def redrive(
    send: Annotated[bool, typer.Option("--send", help="Send it again; without this, it is only shown.")] = False,
    drop: Annotated[
        list[str] | None, typer.Option("--drop", metavar="MESSAGE", help="Remove a message that is past saving.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what is in the dead-letter queues, of the stream, the fan-out and uploads, and send it again."""
    plumbing = _Plumbing.connect()
    with ThreadPoolExecutor(len(DEAD_LETTERS)) as pool:  # each queue is waited for a second
        found = pool.map(lambda named: list(plumbing.cases(*named)), plumbing.dead_letters.items())
    cases = [case for of_queue in found for case in of_queue]
    for case in cases:
        if case.message.message_id in (drop or ()):
            case.queue.remove(case.message)
            case.row["outcome"] = "dropped"
        elif send:
            plumbing.send(case)
        else:
            case.queue.release(case.message)
    rows = [case.row for case in cases]
    if as_json:
        show_json({"result": rows})
    elif rows:
        head = ["Queue", "Kind", "Deals", "Received", "Reason", "Message", "Outcome"]
        show_rows(head, [[*row.values()] for row in rows])
    else:
        say("The dead-letter queues are empty.")
    unknown = set(drop or ()) - {case.message.message_id for case in cases}
    if unknown:
        complain(f"No such message is in a dead-letter queue: {', '.join(sorted(unknown))}")
    if unknown or any(case.failed for case in cases):
        raise typer.Exit(1)


@dataclass(slots=True)
class _Case:
    """One message of a dead-letter queue, its work, and what is shown of it: its kind, why it is there, its outcome."""

    queue: Queue
    message: Received
    content: Content | None
    row: dict[str, Any]
    failed: bool = False


@dataclass(frozen=True, slots=True)
class _Plumbing:
    """The queues by the kind of work that they take, the dead-letter queues by name, and the way back into the
    stream's functions."""

    queues: dict[type[Content], Queue]
    dead_letters: dict[str, Queue]
    replayer: Replayer

    @classmethod
    def connect(cls) -> _Plumbing:
        """Raises NoTable where nothing says which queues."""
        addresses, client_arguments = _addresses()
        work = sqs.connect(addresses["QueueUrl"], **client_arguments)
        mail = Queue(addresses.get("MailQueueUrl", ""), client=work.client)
        queues = {Unit: work, Uploads: Queue(addresses["UploadsUrl"], client=work.client), MailWork: mail, Report: mail}
        there = {name: addresses[output] for name, output in DEAD_LETTERS.items() if output in addresses}
        dead = {name: Queue(address, client=work.client) for name, address in there.items()}
        streams = boto3.client("dynamodbstreams", **client_arguments)
        return cls(queues, dead, Replayer(streams, boto3.client("lambda", **client_arguments), open_table()))

    def cases(self, source: str, queue: Queue) -> Iterator[_Case]:
        seen: set[str] = set()
        for message in queue.receive(wait=1):
            if message.message_id in seen:  # looking has taken so long that the first are visible again
                return
            seen.add(message.message_id)
            content = content_of(message)
            kind, deal_ids, reason = self._told(content)
            told = {"queue": source, "kind": kind, "dealIds": deal_ids, "received": message.received, "reason": reason}
            yield _Case(queue, message, content, told | {"messageId": message.message_id, "outcome": "waiting"})

    def send(self, case: _Case) -> None:
        """Send one message again, and note what came of it."""
        try:
            case.row["outcome"] = self._sent(case)
            case.queue.remove(case.message)
        except DealsError as error:
            case.row["outcome"], case.failed = f"left: {error}", True
            case.queue.release(case.message)

    def _sent(self, case: _Case) -> str:
        """Hand a batch to its function, or other work unchanged to its queue; returns the outcome in words."""
        match case.content:
            case None:
                raise DealsError("nothing that a function understands")
            case Batch():
                return f"{counted(self.replayer.replay(case.content), 'record')} replayed"
        self.queues[type(case.content)].send([case.message.body])
        return "sent again"

    def _told(self, content: Content | None) -> tuple[str, list[str], str]:
        """The kind of some work, the deals that it is about, and why it is there, as far as it says."""
        failed = "every delivery failed; the {}'s log says why"
        match content:
            case Unit():
                return f"{content.kind} news", [content.deal_id], failed.format("messenger")
            case MailWork():
                return f"{content.kind} mail", [], failed.format("mailer")
            case Report():
                return f"{content.because} of a mail", [], failed.format("mailer")
            case Batch():
                kind = f"{counted(content.size, 'record')} of the stream, for {content.reader}"
                with suppress(DealsError):
                    return kind, self.replayer.about(content), content.reason
                return kind, [], f"{content.reason}; the stream cannot be read any more"
            case Uploads():
                kind = counted(len(content.names), "upload")
                return kind, [], "every attempt failed; the resizer's log says why"
            case None:
                return "unknown", [], "not a message of ours"


def _addresses() -> tuple[dict[str, str], dict[str, Any]]:
    """The queues' addresses by the stack's outputs, and the arguments of clients that reach them."""
    named = {output: os.environ[name] for output, name in VARIABLES.items() if os.environ.get(name)}
    if named or os.environ.get("BTD_TABLE"):
        missing = [name for output, name in VARIABLES.items() if output not in (*named, *OF_MAIL)]
        if missing:
            raise NoTable(f"Set {', '.join(missing)} to the stack's outputs of these names.")
        return named, {"region_name": os.environ.get("AWS_REGION")}
    cloud, arguments = local_cloud("BTD_TABLE names no table")
    return {output: cloud[output[0].lower() + output[1:]] for output in VARIABLES}, arguments
