"""A picture is fetched from a public address of an allowed host, in little time, and never too much of it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from features.pictures import fetching, hosts
from features.pictures.fetching import NotNow
from features.pictures.models import MAX_UPLOAD, Refused

HERE = "127.0.0.1"
PNG = b"\x89PNG and more"
FILE = b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: %d\r\n\r\n%b" % (len(PNG), PNG)
PRIVATE = "Its host is in a private network."


Answer = bytes | Callable[[socket.socket], object]


class Host:
    """A host on this machine: it gives each connection to a function, and notes what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[str] = []
        self._listening = socket.create_server((HERE, 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listening.accept()
            except OSError:
                return
            with connection:
                self.asked.append(connection.recv(65536).decode(errors="replace"))
                answer = self.answers.pop(0)
                with suppress(OSError):  # the other side may have had enough
                    answer(connection) if callable(answer) else connection.sendall(answer)

    def close(self) -> None:
        self._listening.close()


@pytest.fixture
def host() -> Iterator[Host]:
    found = Host()
    yield found
    found.close()


def leads_to(*addresses: str) -> Callable[..., Any]:
    """A look-up that finds these addresses, whatever is looked up."""
    return lambda _host, port, **_: [(None, None, 6, "", (each, port)) for each in addresses]


def fetch(host: Host, address: str = "http://shop.example/a.png", **others: Any) -> bytes:
    """Fetch from a host here, which every name leads to that ends in ``example``; all else is looked up."""

    def find(name: str, port: int) -> tuple[str, int]:
        return (HERE, host.port) if name.endswith("example") else fetching.find(name, port)

    return fetching.fetch(address, others.pop("hosts", (hosts.EVERY_HOST,)), find=find, **others)


def test_a_file_is_fetched_from_the_address_that_was_checked(host: Host) -> None:
    host.answers = [FILE]

    assert fetch(host, "http://shop.example/ä b.png?w=9&c=ü") == PNG

    first, *headers = host.asked[0].split("\r\n")
    assert first == "GET /%C3%A4%20b.png?w=9&c=%C3%BC HTTP/1.1"
    assert "Host: shop.example" in headers
    assert not [each for each in headers if each.startswith(("Cookie", "Referer", "Authorization"))]


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "100.64.0.1", "169.254.169.254"),
        *("169.254.170.2", "198.18.0.1", "192.0.2.1", "224.0.0.1", "240.0.0.1", "255.255.255.255"),
        *("::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1", "fec0::1"),
        *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:8.8.8.8", "::7f00:1", "64:ff9b::7f00:1"),
        *("64:ff9b:1::a00:1", "2002:7f00:1::", "2001::7f00:1", "100::1", "4000::1", "3fff::1", "5f00::1"),
        *("192.0.0.8", "192.0.0.192", "192.88.99.1"),
    ],
)
def test_a_name_that_leads_to_a_private_address_is_refused(address: str) -> None:
    with pytest.raises(Refused, match=PRIVATE):
        fetching.find("shop.example", 80, look_up=leads_to(address))
    with pytest.raises(Refused, match=PRIVATE):
        fetching.find("shop.example", 80, look_up=leads_to("93.184.215.14", address))


def test_a_name_that_leads_to_public_addresses_is_taken() -> None:
    found = fetching.find("shop.example", 443, look_up=leads_to("2606:2800:21f::1", "93.184.215.14"))

    assert found == ("93.184.215.14", 443)


@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1/a.png",
        "http://localhost/a.png",
        "http://2130706433/a.png",
        "http://0x7f.1/a.png",
        "http://0177.0.0.1/a.png",
        "http://[::1]/a.png",
        "http://[::ffff:169.254.169.254]/latest/meta-data/",
        "http://169.254.169.254/latest/meta-data/",
    ],
)
def test_an_address_into_a_private_network_is_refused_directly_and_behind_a_redirect(host: Host, address: str) -> None:
    with pytest.raises(Refused, match=PRIVATE):
        fetch(host, address)

    host.answers = [f"HTTP/1.1 302 Found\r\nLocation: {address}\r\n\r\n".encode()]
    with pytest.raises(Refused, match=PRIVATE):
        fetch(host)


@pytest.mark.parametrize(
    "address",
    [
        "http://shop.example:8080/a.png",
        "https://shop.example:80/a.png",
        "http://shop.example:x/a.png",
        "http://user@shop.example/a.png",
        "ftp://shop.example/a.png",
        "file:///etc/passwd",
        "gopher://shop.example/",
        "http://[::1/a.png",
        "http:///a.png",
        "data:image/png;base64,AAAA",
    ],
)
def test_only_the_usual_ports_of_the_web_are_asked(host: Host, address: str) -> None:
    with pytest.raises(Refused, match="Pictures are not fetched from its host"):
        fetch(host, address)

    host.answers = [f"HTTP/1.1 302 Found\r\nLocation: {address}\r\n\r\n".encode()]
    if ":///a" not in address:  # which is the same host's
        with pytest.raises(Refused, match="Pictures are not fetched from its host"):
            fetch(host)


def test_a_redirect_is_followed_to_a_host_that_is_allowed_and_to_no_other(host: Host) -> None:
    host.answers = [b"HTTP/1.1 301 Moved\r\nLocation: //cdn.example/b.png\r\n\r\n", FILE] * 2

    assert fetch(host, hosts=("shop.example", "cdn.example")) == PNG
    with pytest.raises(Refused, match="Pictures are not fetched from its host"):
        fetch(host, hosts=("shop.example",))

    assert [each.partition(" HTTP")[0] for each in host.asked] == ["GET /a.png", "GET /b.png", "GET /a.png"]


def test_redirects_come_to_an_end(host: Host) -> None:
    host.answers = [b"HTTP/1.1 302 Found\r\nLocation: /a.png\r\n\r\n"] * 9

    with pytest.raises(Refused, match="leads to another one too often"):
        fetch(host)

    assert len(host.asked) == 1 + fetching.MOST_REDIRECTS


def head(*lines: str, status: str = "200 OK") -> bytes:
    return "\r\n".join((f"HTTP/1.1 {status}", *lines, "", "")).encode()


def endless(begin: bytes, part: bytes) -> Callable[[socket.socket], None]:
    def send(connection: socket.socket) -> None:
        connection.sendall(begin)
        while True:  # until the other side closes the connection
            connection.sendall(part)

    return send


def slowly(begin: bytes) -> Callable[[socket.socket], None]:
    """Send the beginning of an answer, then a byte at a time."""

    def send(connection: socket.socket) -> None:
        connection.sendall(begin)
        while not never.wait(0.02):
            connection.sendall(b"x")

    never = threading.Event()
    return send


LARGE = b"8000\r\n" + bytes(0x8000) + b"\r\n"
REFUSED: dict[str, tuple[Answer, str]] = {
    "too large": (head("Content-Type: image/png", f"Content-Length: {MAX_UPLOAD + 1}"), "It has more than 10 MB"),
    "endless": (endless(head("Content-Type: image/png"), bytes(65536)), "It has more than 10 MB"),
    "in endless chunks": (
        endless(head("Content-Type: image/png", "Transfer-Encoding: chunked"), LARGE),
        "It has more than 10 MB",
    ),
    "a page": (head("Content-Type: text/html; charset=utf-8", "Content-Length: 0"), "something else than a picture"),
    "a drawing": (head("Content-Type: image/svg+xml", "Content-Length: 0"), "something else than a picture"),
    "compressed": (head("Content-Type: image/png", "Content-Encoding: gzip"), "sends it compressed"),
    "gone": (head(status="404 Not Found"), "Its host answered 404"),
    "a redirect without a place": (head(status="302 Found"), "Its host answered 302"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_picture_of_a_right_size_is_refused(host: Host, name: str) -> None:
    answer, said = REFUSED[name]
    host.answers = [answer]

    with pytest.raises(Refused, match=said):
        fetch(host)


LATER: dict[str, tuple[Answer, str]] = {
    "busy": (head(status="503 Busy"), "Its host answered 503"),
    "too many requests": (head(status="429 Slow down"), "Its host answered 429"),
    "cut off": (head("Content-Type: image/png", "Content-Length: 99") + PNG, "broke off"),
    "cut off in a chunk": (head("Content-Type: image/png", "Transfer-Encoding: chunked") + b"99\r\nab", "broke off"),
    "endless in a chunk of length -1": (
        endless(head("Content-Type: image/png", "Transfer-Encoding: chunked") + b"-1\r\n", bytes(65536)),
        "broke off",
    ),
    "no answer": (b"", "broke off"),
    "no web": (b"SSH-2.0\r\n", "broke off"),
    "endless headers": (endless(b"HTTP/1.1 200 OK\r\n", b"X-Y: " + b"z" * 999 + b"\r\n"), "broke off"),
}


@pytest.mark.parametrize("name", LATER)
def test_what_may_succeed_later_is_said_to(host: Host, name: str) -> None:
    answer, said = LATER[name]
    host.answers = [answer]

    with pytest.raises(NotNow, match=said):
        fetch(host)


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nX-Y: ",
        head("Content-Type: image/png"),
        head("Content-Type: image/png", "Content-Length: 99999"),
    ],
    ids=["status", "headers", "file until its end", "file"],
)
def test_a_slow_host_is_given_up_wherever_it_is_slow(host: Host, begin: bytes) -> None:
    host.answers = [slowly(begin)]

    with pytest.raises(NotNow, match="too slow"):
        fetch(host, seconds=0.3)


def test_a_silent_host_is_given_up_also_while_it_should_prove_its_name(host: Host) -> None:
    host.answers = [slowly(b"")] * 2

    with pytest.raises(NotNow):
        fetch(host, "https://shop.example/a.png", seconds=0.3)


def test_a_name_without_an_address_is_asked_for_again_later() -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    for look_up in (unknown, leads_to()):
        with pytest.raises(NotNow, match="has no address"):
            fetching.find("shop.example", 80, look_up=look_up)


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://Shop.Example/a.png", "shop.example"),
        ("https://cdn.shop.example:443/a.png", "cdn.shop.example"),
        ("https://notshop.example/a.png", None),
        ("https://bücher.example/a.png", "xn--bcher-kva.example"),
        (f"https://{'a.' * 121}shop.example/a.png", None),
        ("no address", None),
    ],
)
def test_hosts_are_allowed_by_name_or_below_one(address: str, host: str | None) -> None:
    is_allowed = partial(hosts.allowed, address)

    assert is_allowed(("*.shop.example", "shop.example", "xn--bcher-kva.example")) == host
    assert is_allowed(()) is None
    assert is_allowed((hosts.EVERY_HOST,)) == hosts.host_of(address)
