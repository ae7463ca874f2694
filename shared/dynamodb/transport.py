"""How requests reach DynamoDB: over connections of the standard library that are kept open.

botocore makes, signs and retries each request and reads its answer. It would send it through urllib3 as well, whose
pool, headers and responses cost more than everything before them; so requests are sent here instead, by botocore's
``before-send`` event, head and body in one packet. ``docs/benchmarks.md`` has the figures.
"""

from __future__ import annotations

import socket
import ssl
from functools import cached_property
from http.client import BadStatusLine, HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection, RemoteDisconnected
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from botocore.awsrequest import AWSResponse
from botocore.exceptions import (
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    ReadTimeoutError,
    SSLError,
)
from botocore.httpsession import where
from botocore.utils import get_environ_proxies
from urllib3.util import wait_for_read

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, HeadersDict
    from botocore.client import BaseClient
    from botocore.session import Session

_EVENT = "before-send"
_NAME = "kept-connections"
_LONGEST_LINE = 65_536


class Transport:
    """The open connections to one endpoint. Threads may share it; each request has a connection to itself.

    Timeouts are in seconds; ``ca_bundle`` is the file of the authorities that a server's certificate may come from.
    """

    def __init__(self, endpoint: str, *, ca_bundle: str, connect_timeout: float, read_timeout: float) -> None:
        self._endpoint = endpoint
        self._address = urlsplit(endpoint)
        self._ca_bundle = ca_bundle
        self._connect_timeout = connect_timeout
        self._read_timeout = read_timeout
        self._idle: list[HTTPConnection] = []  # its append and pop are atomic

    def send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        """The answer to a request of botocore's. Raises its errors of a connection, which it knows how to retry."""
        connection = self._take()
        try:
            connection.send(self._message(request))
            answer = _Response(connection.sock, method=request.method)
            answer.begin()
            body = answer.read()
        except TimeoutError as error:
            connection.close()
            raise ReadTimeoutError(endpoint_url=self._endpoint, error=error) from error
        except (OSError, HTTPException) as error:
            connection.close()
            raise ConnectionClosedError(endpoint_url=self._endpoint, error=error, request=request) from error
        except BaseException:
            connection.close()  # half an answer would be the next request's
            raise
        if answer.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return _Answer(request.url, answer.status, answer.head, body)

    def _take(self) -> HTTPConnection:
        """A connection that is open: the one used last, or a new one."""
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return self._open()
            # The server hangs up on idle connections, which shows as something to read: the end.
            if not wait_for_read(connection.sock, timeout=0):
                return connection
            connection.close()

    def _open(self) -> HTTPConnection:
        host, port = self._address.hostname or "", self._address.port
        connection = (
            HTTPConnection(host, port, timeout=self._connect_timeout)
            if self._address.scheme == "http"
            else HTTPSConnection(host, port, timeout=self._connect_timeout, context=self._tls)
        )
        try:
            connection.connect()
        except TimeoutError as error:
            raise ConnectTimeoutError(endpoint_url=self._endpoint, error=error) from error
        except ssl.SSLError as error:
            raise SSLError(endpoint_url=self._endpoint, error=error) from error
        except OSError as error:
            raise EndpointConnectionError(endpoint_url=self._endpoint, error=error) from error
        connection.sock.settimeout(self._read_timeout)
        connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return connection

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._ca_bundle)

    def _message(self, request: AWSPreparedRequest) -> bytes:
        path = urlsplit(request.url).path or "/"
        lines = [f"{request.method} {path} HTTP/1.1", f"Host: {self._address.netloc}", "Accept-Encoding: identity"]
        for name, value in request.headers.items():
            lines.append(f"{name}: {value.decode('latin-1') if isinstance(value, bytes) else value}")
        body = request.body.encode() if isinstance(request.body, str) else bytes(cast("bytes", request.body))
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


class _Response(HTTPResponse):
    """The standard library's reading of an answer, but for its head, of which that makes an email message.

    ``head`` has the names in lower case; of a name that is there twice, which DynamoDB does not send, the last counts.
    """

    head: dict[str, str]

    def begin(self) -> None:
        protocol, _, status = self._line().partition(" ")
        if not protocol.startswith("HTTP/1.") or not status[:3].isdigit():
            raise BadStatusLine(protocol)
        self.status = self.code = int(status[:3])
        self.head = {}
        while line := self._line():
            name, _, value = line.partition(":")
            self.head[name.lower()] = value.strip()
        self.chunked = self.head.get("transfer-encoding", "").lower() == "chunked"
        self.chunk_left = None
        length = self.head.get("content-length", "")
        self.length = int(length) if length.isdigit() and not self.chunked else None
        stays = self.head.get("connection", "keep-alive" if protocol == "HTTP/1.1" else "close").lower() != "close"
        # Without a length, the end of the connection is the end of the answer.
        self.will_close = not stays or (self.length is None and not self.chunked)

    def _line(self) -> str:
        line = self.fp.readline(_LONGEST_LINE + 1)
        if not line.endswith(b"\n") or len(line) > _LONGEST_LINE:
            raise RemoteDisconnected("The head of the answer is not whole.")
        return line.rstrip(b"\r\n").decode("latin-1")


class _Answer(AWSResponse):
    """An answer as botocore has it, of a head and a body that are there already."""

    def __init__(self, url: str, status: int, head: dict[str, str], body: bytes) -> None:
        self.url, self.status_code, self.raw = url, status, None
        self.headers = cast("HeadersDict", head)
        self._content = body


def attach(client: BaseClient, session: Session, *, connect_timeout: float, read_timeout: float) -> None:
    """Let kept connections send what a client of boto3's asks for, except where a proxy stands in between."""
    endpoint = client.meta.endpoint_url
    if get_environ_proxies(endpoint):
        return
    ca_bundle = session.get_config_variable("ca_bundle") or where()
    transport = Transport(endpoint, ca_bundle=ca_bundle, connect_timeout=connect_timeout, read_timeout=read_timeout)
    client.meta.events.register(_EVENT, transport.send, unique_id=_NAME)  # type: ignore[arg-type]  # an answer may come back


def detach(client: BaseClient) -> None:
    """Let a client of boto3's send its requests itself again, or be mocked by something that listens as we do."""
    client.meta.events.unregister(_EVENT, unique_id=_NAME)
