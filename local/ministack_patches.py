"""Patches of MiniStack, within its process: stream readers, how code is unpacked, how long a gateway waits for a
function, and two gaps in its credentials.

MiniStack reads streams for one function after the other, takes a partial answer for success, and never gives up on a
batch. Here each reader is a thread that follows Lambda's rules. MiniStack also unpacks a function's zip for each
execution environment: thousands of files, thirty times while a site is used. Here functions of one artifact share their
files.

MiniStack derives a function's credentials from its name and its role's, which anyone who has the source can compute.
Here they depend on the checkout's secret key, too. It also stores files of upload forms that nobody signed.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import os
import tempfile
import threading
import time
import zipfile
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ministack.core import lambda_runtime  # type: ignore[import-untyped]  # it has no types
from ministack.services import apigateway_v1, dynamodb, lambda_svc, s3  # type: ignore[import-untyped]  # it has no types

from local.event_source import EventSource, Record

PAUSE = 1.0
"""Seconds between two attempts. Lambda's waits grow."""

FOREVER = 500
"""Attempts if a mapping doesn't limit them: no function on a laptop fails for longer."""

# There is no other access; tests fail if another version of MiniStack keeps them elsewhere.
_positions, _inflight = (getattr(lambda_svc, name) for name in ("_dynamodb_stream_positions", "_esm_inflight"))


def read_streams() -> None:
    """Read streams instead of MiniStack."""
    lambda_svc._poll_dynamodb_streams = poll  # noqa: SLF001  # the same


def poll() -> bool:
    """Let each idle reader take a batch, in its own account and region; returns whether any had one."""
    had_some = False
    for account, region, mapping in lambda_svc._iter_all_esms():  # noqa: SLF001  # the same
        tokens = lambda_svc._request_account_id.set(account), lambda_svc._request_region.set(region)  # noqa: SLF001
        try:
            had_some |= _take(mapping)
        finally:
            lambda_svc._request_account_id.reset(tokens[0])  # noqa: SLF001
            lambda_svc._request_region.reset(tokens[1])  # noqa: SLF001
    return had_some


def _take(mapping: dict[str, Any]) -> bool:
    source, name = mapping.get("EventSourceArn", ""), mapping["UUID"]
    if "/stream/" not in source or not mapping.get("Enabled", True) or name in _inflight:
        return False
    function, _ = lambda_svc._get_func_record_for_qualifier(mapping["FunctionName"], mapping.get("Qualifier"))  # noqa: SLF001
    table = source.split("/stream/")[0].split("/")[-1]
    begin, end = dynamodb.stream_start_position(table), dynamodb.stream_end_position(table)
    latest = mapping.get("StartingPosition") != "TRIM_HORIZON"
    position = max(_positions.setdefault(name, end if latest else begin), begin)
    if function is None or position >= end:
        return False
    records, position = _batch(mapping, table, position)
    if records:
        lambda_svc._dispatch_esm_batch(name, _deliver, mapping, function, records, position)  # noqa: SLF001
    else:
        _positions[name] = position
    return True


def _batch(mapping: dict[str, Any], table: str, position: int) -> tuple[list[Record], int]:
    """The next records that match the mapping's filters, as many as a batch takes, and the next position."""
    half = max(1, int(mapping.get("BatchSize", 100)) // 2)
    found: list[Record] = []
    while len(found) <= half and (raw := dynamodb.stream_records_since(table, position, half)):
        found += lambda_svc._apply_filter_criteria(raw, mapping)  # noqa: SLF001
        position += len(raw)
    return found, position


def _deliver(mapping: dict[str, Any], function: dict[str, Any], records: list[Record], position: int) -> None:
    """Deliver a batch to its function, and permanent failures to the dead-letter queue; then move on."""
    attempts = int(mapping.get("MaximumRetryAttempts", -1))
    retries = attempts if attempts >= 0 else FOREVER
    reader = EventSource(partial(_call, mapping, function), retries, pause=partial(time.sleep, PAUSE))
    reader.deliver(records)
    for dead in reader.dead_letters:
        lambda_svc._send_ddb_stream_failure_record(  # noqa: SLF001
            mapping, function, dead, mapping["EventSourceArn"], {}, "RetryAttemptsExhausted"
        )
    _positions[mapping["UUID"]] = position


def _call(mapping: dict[str, Any], function: dict[str, Any], event: dict[str, Any]) -> dict[str, Any]:
    """A function's partial batch response. Raises RuntimeError if the function failed."""
    result = lambda_svc._execute_function(function, event)  # noqa: SLF001
    if result.get("error"):
        logging.getLogger(__name__).warning("%s failed: %s", mapping["FunctionName"], result)
        raise RuntimeError(mapping["FunctionName"])
    body = result.get("body")
    answer = json.loads(body) if isinstance(body, str | bytes) and body else body
    reports = "ReportBatchItemFailures" in mapping.get("FunctionResponseTypes", []) and isinstance(answer, dict)
    return {"batchItemFailures": answer.get("batchItemFailures") or []} if reports else {"batchItemFailures": []}


_ONE_AT_A_TIME = threading.Lock()


class SharedZip(zipfile.ZipFile):
    """A zip whose files are unpacked once; each target folder is a link to these."""

    def extractall(self, path: Any = None, *_: Any) -> None:
        """Replace an empty folder by a link. The files are read-only, as on Lambda."""
        with open(str(self.filename), "rb") as file:  # noqa: PTH123  # for the digest
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        shared = Path(tempfile.gettempdir()) / f"unpacked-{digest}"
        with _ONE_AT_A_TIME:
            if not shared.exists():
                begun = shared.with_suffix(".begun")
                super().extractall(begun)
                begun.rename(shared)
        folder = Path(os.fspath(path))
        folder.rmdir()
        folder.symlink_to(shared)


def share_unpacked() -> None:
    """Unpack instead of MiniStack."""
    lambda_runtime.zipfile = SimpleNamespace(**vars(zipfile) | {"ZipFile": SharedZip})


def bound_answers() -> None:
    """Answer 504 when an integration's timeout is over, as API Gateway does. The function goes on, as there."""
    invoke = apigateway_v1._invoke_lambda_proxy_v1  # noqa: SLF001  # there is no other access

    async def bounded(integration: dict[str, Any], *given: Any, **named: Any) -> Any:
        answer = asyncio.ensure_future(invoke(integration, *given, **named))
        ended, _ = await asyncio.wait({answer}, timeout=integration["timeoutInMillis"] / 1000)
        if not ended:
            return apigateway_v1._gw_error("INTEGRATION_TIMEOUT", "Endpoint request timed out")  # noqa: SLF001
        return answer.result()

    apigateway_v1._invoke_lambda_proxy_v1 = bounded  # noqa: SLF001  # its own look-up, for each request


def key_credentials(secret: str) -> None:
    """Derive functions' credentials from a secret key, instead of from public names alone."""

    def keyed(text: bytes) -> Any:
        return hmac.new(secret.encode(), text, "sha256")

    lambda_runtime.hashlib = SimpleNamespace(**vars(hashlib) | {"sha256": keyed})


def refuse_unsigned_forms() -> None:
    """Refuse upload forms without a signature, as S3 does for a private bucket."""

    def refused(_policy: str, _size: int) -> Any:
        return s3._error("AccessDenied", "Access Denied", 403)  # noqa: SLF001  # there is no other access

    s3._enforce_post_policy_size = refused  # noqa: SLF001  # called for unsigned forms only
