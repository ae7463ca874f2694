"""Whole answers in time: a read timeout that holds for an answer from its first byte to its last.

A timeout of urllib3 holds for each read of a socket by itself, so that an answer of one byte a second takes forever.
This is the only place that reaches into botocore; ``bound`` is called once, and without that call all else works.
"""

from __future__ import annotations

import io
import socket
import time
from http.client import HTTPResponse
from typing import TYPE_CHECKING, Any

from botocore.awsrequest import (
    AWSHTTPConnection,
    AWSHTTPConnectionPool,
    AWSHTTPSConnection,
    AWSHTTPSConnectionPool,
)

if TYPE_CHECKING:
    from botocore.client import BaseClient


class _InTime(io.RawIOBase):
    """The bytes that come from a socket, as long as its timeout allows for all of them together."""

    def __init__(self, raw: io.RawIOBase, sock: socket.socket) -> None:
        self._raw, self._socket = raw, sock
        self._ends = time.monotonic() + (sock.gettimeout() or 0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._ends - time.monotonic()
        if left <= 0:
            raise TimeoutError("The answer takes too long.")
        self._socket.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _Answer(HTTPResponse):
    """The standard library's reading of an answer, but in time."""

    def __init__(self, sock: socket.socket, *arguments: Any, **more: Any) -> None:
        super().__init__(sock, *arguments, **more)
        self.fp = io.BufferedReader(_InTime(self.fp.detach(), sock))


class _Connection(AWSHTTPConnection):
    response_class = _Answer  # type: ignore[assignment]  # botocore's own is only for "100 Continue"


class _SecureConnection(AWSHTTPSConnection):
    response_class = _Answer  # type: ignore[assignment]  # botocore's own is only for "100 Continue"


class _Pool(AWSHTTPConnectionPool):
    ConnectionCls = _Connection


class _SecurePool(AWSHTTPSConnectionPool):
    ConnectionCls = _SecureConnection


def bound(client: BaseClient) -> None:
    """Let a client's read timeout hold for whole answers."""
    session: Any = client._endpoint.http_session  # type: ignore[attr-defined]  # noqa: SLF001  # see above
    session._pool_classes_by_scheme.update(http=_Pool, https=_SecurePool)  # noqa: SLF001  # see above
