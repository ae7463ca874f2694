"""The functions behind a cache that is not of our making: what they say of their pages, as nginx understands it.

It is told what CloudFront's settings say (the key, no Accept), and obeys Cache-Control, ETag and stale-while-revalidate
by itself. Runs where nginx is installed.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest

from local.cloud import free_port
from tests.support.commands import eventually
from tests.support.gateway import Answer, Origin, Request, api

__all__ = ["api"]

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")  # Debian keeps it there, on root's path only

pytestmark = [pytest.mark.thorough, pytest.mark.skipif(NGINX is None, reason="nginx is not installed")]

CONFIGURATION = """
daemon off; master_process off; pid {folder}/pid; error_log stderr crit;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    proxy_cache_path {folder}/cache keys_zone=pages:1m;
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://127.0.0.1:{origin};
            proxy_http_version 1.1;
            proxy_set_header Accept "";
            proxy_cache pages;
            proxy_cache_key "$uri $arg_limit $arg_cursor $http_authorization $http_cookie";
            proxy_cache_revalidate on;
            proxy_cache_background_update on;
            add_header X-Cache $upstream_cache_status always;
        }}
    }}
}}
"""


@pytest.fixture
def origin(api: Origin) -> Iterator[int]:
    """The port of a server that asks the functions."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            split = urlsplit(self.path)
            headers = {name.lower(): value for name, value in self.headers.items() if name.lower() != "host"}
            headers["x-forwarded-for"] = "192.0.2.7"
            answer = api(Request("GET", split.path, tuple(parse_qsl(split.query)), headers))
            body = answer.body.encode()
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: the API remembers the requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server.server_port
        server.shutdown()


@pytest.fixture
def cache(origin: int, tmp_path: Path) -> Iterator[int]:
    """nginx's port."""
    port = free_port()
    configuration = tmp_path / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(folder=tmp_path, port=port, origin=origin))
    assert NGINX is not None
    process = subprocess.Popen([NGINX, "-e", "stderr", "-p", str(tmp_path), "-c", str(configuration)])
    eventually(lambda: connected(port), bool)
    yield port
    process.terminate()
    process.wait(timeout=120)


def connected(port: int) -> bool:
    """Whether something listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def get(port: int, url: str, **headers: str) -> Answer:
    """GET through nginx; ``result`` is what it says of its cache."""
    sent = {"Accept-Encoding": "identity", **{name.replace("_", "-"): value for name, value in headers.items()}}
    answer = httpx.get(f"http://127.0.0.1:{port}{url}", headers=sent, timeout=120, trust_env=False)
    return Answer(answer.status_code, dict(answer.headers), answer.text, answer.headers.get("x-cache", ""))


def test_a_page_is_kept_for_all_and_served_stale_while_it_is_revalidated(cache: int, api: Origin) -> None:
    first, second = get(cache, "/v1/deals"), get(cache, "/v1/deals", user_agent="another")

    stale = eventually(lambda: get(cache, "/v1/deals"), lambda answer: answer.result != "HIT")  # fresh for five seconds
    eventually(lambda: len(api.asked), lambda asked: asked == 2)

    assert [first.result, second.result, stale.result] == ["MISS", "HIT", "STALE"]
    assert first.body == second.body == stale.body
    assert api.asked[1].headers["if-none-match"] == first.headers["etag"]


@pytest.mark.parametrize("name", ["authorization", "cookie"])
def test_a_request_with_credentials_neither_gets_nor_leaves_a_kept_page(cache: int, api: Origin, name: str) -> None:
    get(cache, "/v1/deals")

    answers = [get(cache, "/v1/deals", **{name: "mine"}) for _ in range(2)]

    assert [answer.result for answer in answers] == ["MISS", "MISS"]
    assert get(cache, "/v1/deals").result in ("HIT", "STALE")  # the page that was kept for all, however slow this was


@pytest.mark.parametrize("path", ["/v1/me", "/v1/deals/none-such", "/v1/deals?limit=0"])
def test_what_is_no_public_page_is_not_kept(cache: int, api: Origin, path: str) -> None:
    answers = [get(cache, path) for _ in range(2)]

    assert [answer.result for answer in answers] == ["MISS", "MISS"]
    assert {answer.status for answer in answers} <= {400, 401, 404}


def test_a_reader_who_has_the_page_gets_304_from_the_cache(cache: int, api: Origin) -> None:
    first = get(cache, "/v1/deals")

    again = get(cache, "/v1/deals", if_none_match=first.headers["etag"])

    assert (again.status, again.body) == (304, "")
    assert len(api.asked) == 1
