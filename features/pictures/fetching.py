"""Fetch a picture from another host, which may be hostile: at a public address, in little time, and never too much.

A name is resolved once, its addresses are checked, and the connection goes to the address that was checked. So a name
that leads somewhere else a moment later leads nowhere. Each redirect is checked in the same way.
"""

from __future__ import annotations

import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from urllib.parse import quote, urljoin, urlsplit

from features.pictures.hosts import PORTS, allowed
from features.pictures.models import MAX_UPLOAD, Refused

SECONDS = 20.0
"""How long a fetch may take, with its redirects."""

MOST_REDIRECTS = 3

TYPES = ("image/jpeg", "image/png", "image/webp", "image/gif", "image/avif")
UNKNOWN = ("", "application/octet-stream", "binary/octet-stream")
"""The types of answers: those of pictures, and those that say nothing of a file's type. The content decides later."""

HEADERS = {
    "Accept": ",".join(TYPES),
    "Accept-Encoding": "identity",
    "Connection": "close",
    "User-Agent": "BigTimeDeals/1 (pictures of deals, fetched once)",
}

_REDIRECTS, _LATER = (301, 302, 303, 307, 308), (408, 425, 429)
_SAFE = "/%:@!$&'()*+,;=~?"
_NOT_ALLOWED = "Pictures are not fetched from its host."
_PRIVATE = "Its host is in a private network."
_SLOW, _BROKEN = "Its host is too slow.", "Its host broke off the connection."
_TOO_LARGE = f"It has more than {MAX_UPLOAD // 1_000_000} MB."

Place = tuple[str, int]
"""An address and a port."""


class NotNow(Exception):
    """A fetch that may succeed later; its text says what happened."""


def find(host: str, port: int, look_up: Callable[..., list[tuple[object, ...]]] | None = None) -> Place:
    """A host's address, checked to be public. Raises Refused, and NotNow for a host without an address.

    One private address among several refuses all. ``look_up`` is ``socket.getaddrinfo`` or another like it.
    """
    try:
        found = (look_up or socket.getaddrinfo)(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise NotNow("Its host has no address.") from error
    places = [str(each[4][0]) for each in found]  # type: ignore[index]  # a socket's address
    if not places:
        raise NotNow("Its host has no address.")
    if not all(map(is_public, places)):
        raise Refused(_PRIVATE)
    return min(places, key=lambda each: ":" in each), port  # a Lambda function without a network of its own has no IPv6


_SPECIAL = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "2001::/23", "2002::/16", "3fff::/20")))
"""Networks whose addresses lead on to others, such as 6to4 and Teredo, or are for documents, though Python 3.11 takes
some of them for public. https://www.iana.org/assignments/iana-ipv6-special-registry"""
_OF_INTERNET = ipaddress.ip_network("2000::/3")


def is_public(address: str) -> bool:
    """Whether everyone may reach an address: not a private, local or special one, nor one that contains another."""
    try:
        number = ipaddress.ip_address(address)
    except ValueError:  # one with a zone is local
        return False
    special = any(number in each for each in _SPECIAL) or (number.version == 6 and number not in _OF_INTERNET)
    return number.is_global and not (special or number.is_multicast or number.is_reserved)


def fetch(
    address: str, hosts: tuple[str, ...], *, find: Callable[[str, int], Place] = find, seconds: float = SECONDS
) -> bytes:
    """The file at an address, if its host and those that it redirects to are among ``hosts``.

    Raises Refused, whose text is for an editor, and NotNow if a later attempt may succeed.
    """
    end = time.monotonic() + seconds
    for _ in range(MOST_REDIRECTS + 1):
        host = allowed(address, hosts)
        if host is None:
            raise Refused(_NOT_ALLOWED)
        answer = _Exchange(address, host, end - time.monotonic()).answer(find)
        if isinstance(answer, bytes):
            return answer
        try:
            address = urljoin(address, answer)
        except ValueError as error:
            raise Refused(_NOT_ALLOWED) from error
    raise Refused("Its address leads to another one too often.")


@cache
def _tls() -> ssl.SSLContext:
    return ssl.create_default_context()


class _Exchange:
    """One request and its answer. A timer ends the connection, whatever its host does until then."""

    def __init__(self, address: str, host: str, seconds: float) -> None:
        self._parts, self._host, self._seconds = urlsplit(address), host, max(seconds, 0.001)
        self._socket: socket.socket | None = None
        self._over = threading.Event()

    def answer(self, find: Callable[[str, int], Place]) -> bytes | str:
        """The file, or the address that it redirects to. Raises Refused and NotNow."""
        timer = threading.Timer(self._seconds, self._end)
        timer.daemon = True
        timer.start()
        try:
            found = self._ask(find(self._host, PORTS[self._parts.scheme]))
        except NotNow as error:
            raise NotNow(_SLOW if self._over.is_set() else str(error)) from error
        except (OSError, HTTPException, ValueError) as error:
            slow = self._over.is_set() or isinstance(error, TimeoutError)
            insecure = isinstance(error, ssl.SSLCertVerificationError)
            why = _SLOW if slow else "Its host has no valid certificate." if insecure else _BROKEN
            raise NotNow(why) from error
        finally:
            timer.cancel()
            if self._socket:
                self._socket.close()
        if self._over.is_set():  # what looks like the end of a file is ours
            raise NotNow(_SLOW)
        return found

    def _end(self) -> None:
        self._over.set()
        if self._socket:
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def _hold(self, held: socket.socket) -> None:
        """Have the timer end this socket. Raises TimeoutError if it has fired already."""
        self._socket = held
        if self._over.is_set():
            raise TimeoutError

    def _ask(self, place: Place) -> bytes | str:
        self._hold(plain := socket.create_connection(place, timeout=self._seconds))
        if self._parts.scheme == "https":
            secure = _tls().wrap_socket(plain, server_hostname=self._host, do_handshake_on_connect=False)
            self._hold(secure)
            secure.do_handshake()
        connection = HTTPConnection(self._host, place[1])
        connection.sock = self._socket
        path = quote(self._parts.path or "/", safe=_SAFE)
        query = quote(self._parts.query, safe=_SAFE)
        host = f"[{self._host}]" if ":" in self._host else self._host
        connection.request("GET", f"{path}?{query}" if query else path, headers={"Host": host, **HEADERS})
        response = connection.getresponse()
        try:
            return _read(response)
        finally:
            response.close()


def _read(response: HTTPResponse) -> bytes | str:
    """The file of an answer, or the address that it redirects to. Raises Refused, NotNow."""
    if response.status in _REDIRECTS and (place := response.headers.get("Location")):
        return place
    if response.status in _LATER or response.status >= 500:
        raise NotNow(f"Its host answered {response.status}.")
    if response.status != 200:
        raise Refused(f"Its host answered {response.status}.")
    kind = response.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind not in (*TYPES, *UNKNOWN):
        raise Refused("Its host sends something else than a picture.")
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise Refused("Its host sends it compressed.")
    if (response.length or 0) > MAX_UPLOAD:
        raise Refused(_TOO_LARGE)
    content = _filled(response, MAX_UPLOAD + 1)
    if len(content) > MAX_UPLOAD:
        raise Refused(_TOO_LARGE)
    if response.length:
        raise NotNow(_BROKEN)
    return content


def _filled(response: HTTPResponse, most: int) -> bytes:
    """The beginning of an answer's content. It is read into a place of that size, because ``read`` takes a chunk whose
    length is given as -1 for all that its host sends."""
    place, end = memoryview(bytearray(most)), 0
    while end < most and (came := response.readinto(place[end:])):
        end += came
    return bytes(place[:end])
