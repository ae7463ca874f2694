"""``btd redrive``: what failed for good is looked at and sent again; ``docs/failures.md`` says when to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from cli import dead_letters
from cli.connection import NoTable, local_cloud, open_table
from cli.dead_letters import Batch, Replayer, Uploads
from cli.output import complain, say, show_json, show_rows
from cli.watching import AsJson
from shared import sqs
from shared.data.members.cohorts import Unit
from shared.data.members.mail_work import MailWork, Report
from shared.errors import DealsError
from shared.sqs import Queue, Received
from shared.values.counts import counted

DEAD_LETTERS = {
    "work": "WorkDeadLettersUrl",
    "uploads": "UploadsDeadLettersUrl",
    "mail": "MailDeadLettersUrl",
    "deals": "DealsDeadLettersUrl",
    "refreshes": "RefreshesDeadLettersUrl",
}
"""The dead-letter queues, each with its output: of the fan-out's work, uploads, mail, the publisher, the refresher."""

VARIABLES = {
    "QueueUrl": "BTD_QUEUE_URL",
    "UploadsUrl": "BTD_UPLOADS_URL",
    "UploadsDeadLettersUrl": "BTD_UPLOADS_DEAD_LETTERS_URL",
    "MailQueueUrl": "BTD_MAIL_QUEUE_URL",
    "MailDeadLettersUrl": "BTD_MAIL_DEAD_LETTERS_URL",
    "WorkDeadLettersUrl": "BTD_WORK_DEAD_LETTERS_URL",
    "DealsDeadLettersUrl": "BTD_DEALS_DEAD_LETTERS_URL",
    "RefreshesDeadLettersUrl": "BTD_REFRESHES_DEAD_LETTERS_URL",
}
"""The stack's outputs, and the environment's names for them."""

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
            plumbing.drop(case)
        elif send:
            plumbing.send(case)
        else:
            case.queue.release(case.message)
    _show(cases, as_json)
    unknown = set(drop or ()) - {case.message.message_id for case in cases}
    if unknown:
        complain(f"No such message is in a dead-letter queue: {', '.join(sorted(unknown))}")
    if unknown or any(case.failed for case in cases):
        raise typer.Exit(1)


@dataclass(slots=True)
class _Case:
    """One message of a dead-letter queue, and what became of it."""

    source: str
    queue: Queue
    message: Received
    content: Unit | MailWork | Report | Uploads | Batch | None
    deal_ids: list[str]
    reason: str
    outcome: str = "waiting"
    failed: bool = False

    @property
    def kind(self) -> str:
        match self.content:
            case Unit():
                return f"{self.content.kind} news"
            case MailWork():
                return f"{self.content.kind} mail"
            case Report():
                return f"{self.content.because} of a mail"
            case Batch():
                return f"{counted(self.content.size, 'record')} of the stream, for {self.content.reader}"
            case Uploads():
                return counted(len(self.content.names), "upload")
            case None:
                return "unknown"

    def to_json(self) -> dict[str, Any]:
        return {
            "queue": self.source,
            "kind": self.kind,
            "dealIds": self.deal_ids,
            "received": self.message.received,
            "reason": self.reason,
            "messageId": self.message.message_id,
            "outcome": self.outcome,
        }


@dataclass(frozen=True, slots=True)
class _Plumbing:
    """The queues of the fan-out, of uploads and of mail, the dead-letter queues by name, and the way back into the
    stream's functions."""

    work: Queue
    uploads: Queue
    mail: Queue
    dead_letters: dict[str, Queue]
    replayer: Replayer

    @classmethod
    def connect(cls) -> _Plumbing:
        """Raises NoTable where nothing says which queues."""
        addresses, client_arguments = _addresses()
        work = sqs.connect(addresses["QueueUrl"], **client_arguments)
        uploads = Queue(addresses["UploadsUrl"], work.client)
        mail = Queue(addresses.get("MailQueueUrl", ""), work.client)
        known = {name: output for name, output in DEAD_LETTERS.items() if output in addresses}
        queues = {name: Queue(addresses[output], work.client) for name, output in known.items()}
        return cls(work, uploads, mail, queues, dead_letters.replayer(open_table(), **client_arguments))

    def cases(self, source: str, queue: Queue) -> Iterator[_Case]:
        seen: set[str] = set()
        for message in queue.receive(wait=1):
            if message.message_id in seen:  # looking has taken so long that the first are visible again
                return
            seen.add(message.message_id)
            content = dead_letters.content_of(message)
            deal_ids, reason = self._told(content)
            yield _Case(source, queue, message, content, deal_ids, reason)

    def send(self, case: _Case) -> None:
        """Send one message again, and note what came of it."""
        try:
            match case.content:
                case Unit() | Uploads():
                    queue = self.work if isinstance(case.content, Unit) else self.uploads
                    dead_letters.resend(queue, case.queue, case.message)
                    case.outcome = "sent again"
                case MailWork() | Report():
                    dead_letters.resend(self.mail, case.queue, case.message)
                    case.outcome = "sent again"
                case Batch():
                    replayed = self.replayer.replay(case.content)
                    case.queue.remove(case.message)
                    case.outcome = f"{counted(replayed, 'record')} replayed"
                case None:
                    case.outcome, case.failed = "left: nothing that a function understands", True
                    case.queue.release(case.message)
        except DealsError as error:
            case.outcome, case.failed = f"left: {error}", True
            case.queue.release(case.message)

    def drop(self, case: _Case) -> None:
        case.queue.remove(case.message)
        case.outcome = "dropped"

    def _told(self, content: Unit | MailWork | Report | Uploads | Batch | None) -> tuple[list[str], str]:
        """The deals that a message is about, and why it is there, as far as it says."""
        match content:
            case Unit():
                return [content.deal_id], "every delivery failed; the messenger's log says why"
            case MailWork() | Report():
                return [], "every delivery failed; the mailer's log says why"
            case Batch():
                with suppress(DealsError):
                    return self.replayer.about(content), content.reason
                return [], f"{content.reason}; the stream cannot be read any more"
            case Uploads():
                return [], "every attempt failed; the resizer's log says why"
            case None:
                return [], "not a message of ours"


def _addresses() -> tuple[dict[str, str], dict[str, Any]]:
    """The queues' addresses by the stack's outputs, and the arguments of clients that reach them."""
    named = {output: os.environ[name] for output, name in VARIABLES.items() if os.environ.get(name)}
    if named or os.environ.get("BTD_TABLE"):
        missing = [name for output, name in VARIABLES.items() if output not in (*named, *OF_MAIL)]
        if missing:
            raise NoTable(f"Set {', '.join(missing)} to the stack's outputs of these names.")
        return named, {"region_name": os.environ.get("AWS_REGION")}
    cloud = local_cloud("BTD_TABLE names no table")
    return {output: cloud.description[output[0].lower() + output[1:]] for output in VARIABLES}, cloud.arguments


def _show(cases: list[_Case], as_json: bool) -> None:
    if as_json:
        show_json({"result": [case.to_json() for case in cases]})
    elif cases:
        show_rows(
            ["Queue", "Kind", "Deals", "Received", "Reason", "Message", "Outcome"],
            (
                (
                    case.source,
                    case.kind,
                    case.deal_ids,
                    case.message.received,
                    case.reason,
                    case.message.message_id,
                    case.outcome,
                )
                for case in cases
            ),
        )
    else:
        say("The dead-letter queues are empty.")
