"""The whole site in one process, which also does the work of gateway, stream, queue, clock and TTL.

The tab's worker uses ``Site``, and so do tests in CPython. Its table is moto's, in the same process.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
import secrets
import time
import uuid
from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.handlers import BUILTIN_HANDLERS
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType
from moto.dynamodb.models.utilities import dynamo_json_dump as as_json
from moto.dynamodb.responses import DynamoHandler

from demo import corrections, dating
from demo.stand_ins import ACCOUNT, Files, Waiting
from local.event_source import EventSource
from shared import features, hooks
from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from shared.runtime import environment

REGION = "us-east-1"

AT_ONCE = 200
"""Records of the stream between two answers of the tab: some hundred milliseconds of work for each reader."""

TTL_SERVICE = {"principalId": "dynamodb.amazonaws.com", "type": "Service"}

Json = dict[str, Any]


class Context:
    """Lambda's context without a time limit: invocations cost nothing here."""

    aws_request_id, log_stream_name, memory_limit_in_mb = "00000000-0000-4000-8000-000000000000", "tab", 512
    function_name, invoked_function_arn = "tab", f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:tab"

    def get_remaining_time_in_millis(self) -> int:
        return 600_000


class Site:
    """The site. ``rows`` come from ``packing.rows``; ``origin`` and ``base`` locate its pages."""

    def __init__(self, rows: Json, origin: str, base: str) -> None:
        own = {"TABLE_NAME": "big-time-deals", "SITE_ORIGIN": origin, "SITE_BASE": base, "PICTURES_BUCKET": "pictures"}
        keys = {"AWS_ACCESS_KEY_ID": "tab", "AWS_SECRET_ACCESS_KEY": "tab", "AWS_DEFAULT_REGION": REGION}
        os.environ.update(
            {**rows["variables"], **own, **keys, "QUEUE_URL": "tab", "PYDANTIC_DISABLE_PLUGINS": "__all__"}
        )
        self.functions: dict[str, Json] = rows["functions"]
        self.prefixes = {row["pages"]: name for name, row in self.functions.items() if row["pages"] is not None}
        self.files, self.waiting = Files(f"{origin}{base}/-/upload"), Waiting()
        self.changed: dict[str, Json | None] = {}
        self.expired: set[str] = set()
        self.before = features.merged(hooks.Demo, lambda each: each.PREPARES)
        self.records: list[Json] = []
        for each in features.roles(hooks.Demo):
            each.connect(self.files)
        vars(environment)["queue"] = lambda: self.waiting
        vars(environment)["FOR_A_READER"] = 600  # seconds: a tab is slow, and has only one reader
        BUILTIN_HANDLERS.append(("before-send", answered))  # for every later client
        self.corrected = corrections.applied()
        self.corrected.__enter__()
        client: Any = environment.table().client
        client.create_table(**create_table_request("big-time-deals"))
        self.moto: Any = dynamodb_backends[ACCOUNT][REGION].tables["big-time-deals"]

    def kept(self) -> str:
        """The site's whole state as JSON: items in DynamoDB's form, and files."""
        items = [item.to_json()["Attributes"] for item in self.moto.all_items()]
        return as_json({"items": items, "files": self.files.held})

    def keep(
        self, kept: str, changes: Sequence[tuple[str, str | None]] = (), records: str = "[]", of: float | None = None
    ) -> int:
        """Restore the ``kept`` items and later ``changes`` without stream records, and ``pending`` records, which reach
        the stream's readers with the next.

        What is ``of`` another day (epoch seconds) is moved to today; returns by how many days.
        """
        held, self.records = json.loads(kept), json.loads(records)
        self.files.held |= {name: tuple(file) for name, file in held["files"].items()}
        found = {(item["PK"]["S"], item["SK"]["S"]): item for item in held["items"]}
        found |= {tuple(json.loads(key)): item and json.loads(item) for key, item in changes}
        items = [item for item in found.values() if item]
        days = dating.days_since(of, time.time()) if of else 0
        if of and days:
            items = dating.counted_anew(dating.moved(items, days, of))
            self.records = dating.moved(self.records, days, of)
        for item in items:
            corrections.place(self.moto, DynamoType(item["PK"]), DynamoType(item["SK"]), item)
        return days

    def changes(self) -> list[tuple[str, str | None]]:
        """The items written since the last call, each by its key; None for a deleted one."""
        self._gather()
        found = [(key, None if item is None else json.dumps(item)) for key, item in self.changed.items()]
        self.changed.clear()
        return found

    def pending(self) -> str:
        """Stream records not read yet, as JSON: a tab may be closed before they are."""
        return json.dumps(self.records)

    def answer(
        self,
        method: str,
        address: str,
        headers: Mapping[str, str],
        body: str | None = None,
        files: Mapping[str, bytes] | None = None,
    ) -> Json:
        """Answer a request like the gateway: the function's status, headers and content.

        No gateway passes on a form's ``files``: they are for pages that only the demo has.
        """
        parts = urlsplit(address)
        query = parse_qsl(parts.query, keep_blank_values=True)
        fitting = [each for each in self.prefixes if f"{parts.path}/".startswith(f"{each}/")]
        proxy = parts.path.strip("/")
        headers = {"Sec-Fetch-Site": "same-origin", **headers}
        event = {
            "httpMethod": method,
            "path": parts.path,
            "resource": "/{proxy+}" if proxy else "/",
            "headers": headers,
            "multiValueHeaders": {name: [value] for name, value in headers.items()},
            "queryStringParameters": dict(query) or None,
            "multiValueQueryStringParameters": {n: [v for name, v in query if name == n] for n, _ in query} or None,
            "pathParameters": {"proxy": proxy} if proxy else None,
            "body": base64.b64encode(body.encode()).decode() if body else None,
            "isBase64Encoded": bool(body),
            "requestContext": {
                "requestId": str(uuid.uuid4()),
                "httpMethod": method,
                "stage": "web",
                "identity": {"sourceIp": "192.0.2.1"},
            },
            **({"files": {name: bytes(content) for name, content in files.items()}} if files else {}),
        }
        got = self.invoke(self.prefixes[max(fitting, key=len)], event)
        text = got["body"] or ""
        content = base64.b64decode(text) if got["isBase64Encoded"] else text.encode()
        sent = [(name, each) for name, values in got["multiValueHeaders"].items() for each in values]
        return {"status": got["statusCode"], "headers": sent, "content": content}

    def invoke(self, name: str, event: Json) -> Any:
        """A function's answer to an event."""
        if prepare := self.before.pop(name, None):
            prepare(environment.table().client)
        environment.begin(event, Context())  # type: ignore[arg-type]  # it has what the functions look at
        module = importlib.import_module(self.functions[name]["module"])
        handle = next((each.wrap(module) for each in features.roles(hooks.Entry)), module.handler)
        return handle(event, Context())

    def follow(self) -> None:
        """Deliver new records to the stream's readers, and their messages to the messenger, until nothing is left."""
        while self.follow_some():
            pass

    def follow_some(self) -> bool:
        """Deliver some of the records and messages; returns whether there were any."""
        if not self._gather() and not self.waiting.bodies:
            return False
        records, self.records = self.records[:AT_ONCE], self.records[AT_ONCE:]
        for name, row in self.functions.items():
            wanted = [each for each in records if row["reads"] and fits(each, row["reads"]["filters"])]
            size = row["reads"]["batch_size"] if wanted else 1
            for start in range(0, len(wanted), size):
                EventSource(partial(self.invoke, name)).deliver(wanted[start : start + size])
        bodies, self.waiting.bodies[:] = self.waiting.bodies[:5], self.waiting.bodies[5:]
        if bodies:
            self.invoke("messenger", {"Records": [_message(body) for body in bodies]})
        return True

    def tick(self) -> None:
        """Do the work of each minute: remove expired items (TTL), and call the scheduled functions."""
        for item in self.moto.all_items():
            if TTL_ATTRIBUTE in item.attrs and float(item.attrs[TTL_ATTRIBUTE].value) < time.time():
                self.expired.add(json.dumps([item.hash_key.value, item.range_key.value]))
                self.moto.delete_item(item.hash_key, item.range_key)
        for name, row in self.functions.items():
            if row["each_minute"]:
                self.invoke(name, {"source": "aws.events"})
        self.follow()

    def sign_in(self, username: str) -> list[str]:
        """The cookies of a sample user, without a password."""
        from shared.data.members import sessions, users  # noqa: PLC0415  # not for the first page
        from shared.html import cookies  # noqa: PLC0415  # the same
        from shared.values import times  # noqa: PLC0415  # the same

        table = environment.table()
        user = users.get(table, username, consistent=True)
        token, _ = sessions.start(table, user, times.now(), secrets.token_bytes(32))
        return cookies.signed_in(token)

    def _gather(self) -> bool:
        """Take the stream's new records in Lambda's form; returns whether any is unread."""
        shard = self.moto.stream_shard
        for each in shard.items:
            record, number = each.to_json(), shard.starting_sequence_number + 1
            at = record["dynamodb"]["ApproximateCreationDateTime"].timestamp()
            images = json.loads(as_json(record["dynamodb"]))
            key = json.dumps([part["S"] for part in images["Keys"].values()])
            self.changed[key] = images.get("NewImage")
            change = {**images, "ApproximateCreationDateTime": int(at), "SequenceNumber": str(number)}
            by = {"userIdentity": TTL_SERVICE} if key in self.expired else {}
            self.records.append({**record, **by, "eventSourceARN": self.moto.table_arn, "dynamodb": change})
            shard.starting_sequence_number = number
        shard.items.clear()
        self.expired.clear()
        return bool(self.records)


def answered(request: AWSPreparedRequest, **_: Any) -> AWSResponse:
    """moto's answer to a client's request, which is never sent: like ``mock_aws``, but with fewer imports."""
    handler: Any = DynamoHandler()
    headers = {name: each.decode() if isinstance(each, bytes) else each for name, each in request.headers.items()}
    given = {"headers": headers, "querystring": {}, "response_headers": {}, "uri_match": {}}
    vars(handler).update(given, region=REGION, current_account=ACCOUNT)
    sent = {"method": "POST", "values": {}, "headers": headers, "data": request.body, "path": "/"}
    handler.parse_parameters(SimpleNamespace(**sent, content_type=headers["Content-Type"]))
    status, named, body = handler.call_action()
    content = BytesIO(body if isinstance(body, bytes) else body.encode())
    raw: Any = SimpleNamespace(stream=lambda: iter([content.read()]))
    return AWSResponse(str(request.url), status, named, raw)


def _message(body: str) -> Json:
    """A queue message in Lambda's form."""
    message = {"messageId": str(uuid.uuid4()), "receiptHandle": "tab", "body": body, "awsRegion": REGION}
    return {**message, "attributes": {}, "messageAttributes": {}, "eventSource": "aws:sqs", "eventSourceARN": "tab"}


def fits(record: Any, filters: Sequence[Json]) -> bool:
    """Whether a record passes a reader's filters.

    https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html
    """

    def part_fits(part: Any, wanted: Any) -> bool:
        if not isinstance(wanted, dict):
            return part in wanted
        return isinstance(part, dict) and all(part_fits(part.get(name), each) for name, each in wanted.items())

    return any(part_fits(record, each) for each in filters)


def begun(rows: str, origin: str, base: str) -> Site:
    """A site at an address, with an empty table; ``rows`` is the file with its functions' rows."""
    return Site(json.loads(Path(rows).read_text(encoding="utf-8")), origin, base)
