"""Attacks that need a deployed site: odd bytes, text that goes through streams, links that lead inside.

``tests/api/test_attacks.py`` has those that end in one function.
"""

from __future__ import annotations

import socket

import httpx
import pytest

from tests.support.commands import PATIENCE, eventually
from tests.support.site import Site, Visitor, a_deal, dump, fresh


def raw(site: Site, request: bytes) -> bytes:
    """The site's answer to bytes that no HTTP library would send."""
    with socket.create_connection(("127.0.0.1", site.port), timeout=120) as connection:
        connection.sendall(request)
        answer = b""
        while part := connection.recv(65536):
            answer += part
    return answer


TRAVERSALS = [
    "/v1/brands/%2e%2e/me",
    "/v1/brands/../me",
    "/v1/brands/..%2f..%2fme",
    "/v1/brands/%2e%2e%2fme",
    "/v1//me",
    "/v1/brands/x/..%5c..%5cme",
    "/v1/deals/%2e%2e/front-page/featured",
]


def test_a_path_leads_nowhere_else(site: Site) -> None:
    """Nobody is signed in: each place it leads to refuses it."""
    host, writes = site.visitor().headers["Host"], site.writes()

    for path in TRAVERSALS:
        for method in ("GET", "PUT", "DELETE"):
            answer = raw(site, f"{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
            assert answer.split(b" ")[1] in (b"400", b"401", b"404"), (path, answer)

    assert writes.keys() == []


@pytest.mark.parametrize("path", ["/categories", "/openapi.json", "/docs", "/nothing"])
def test_no_answer_repeats_the_host_that_a_proxy_tells(site: Site, path: str) -> None:
    answer = httpx.get(
        f"{site.endpoint}/_aws/execute-api/{site.api_id}/v1{path}",
        headers={"X-Forwarded-Host": "evil.example", "X-Original-URL": "/v1/me"},
        trust_env=False,
        timeout=PATIENCE,
    )

    assert answer.status_code in (200, 404)
    assert "evil" not in answer.text + str(answer.headers)


QUOTES = [
    "Trail' runner",
    "x'} ; DELETE FROM \"big-time-deals\" WHERE PK='USER#ana' --",
    "', 'PK': 'SESSION#0",
    "? ?1 :v #n {0} %s ${x}",
    '"}]} "title": "x',
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "=cmd|' /C calc'!A0",
]


def test_text_that_would_be_a_statement_elsewhere_reaches_readers_as_it_is(site: Site, editor: Visitor) -> None:
    reader, bystander, slug = site.member("quoted"), site.member("bystander"), fresh("quoting")
    assert reader.patch("/me", json={"name": QUOTES[1]}).json()["name"] == QUOTES[1]
    assert editor.post("/brands", json={"name": f"{slug} '; --"}).headers["Location"] == f"/v1/brands/{slug}"
    assert reader.put(f"/brands/{slug}/watch").status_code == 200
    people = {key: item for key, item in dump(site.table).items() if item["Type"] in ("User", "Session", "UserEmail")}

    for title in QUOTES:
        deal = editor.post("/deals", json=a_deal(slug, title=title, description=title, couponCode=title))
        assert deal.status_code == 201

    told = eventually(lambda: reader.get("/messages").json()["items"], lambda items: len(items) == len(QUOTES))
    assert sorted(message["deal"]["title"] for message in told) == sorted(QUOTES)
    assert editor.put(f"/deals/{deal.json()['dealId']}/hot").status_code == 202
    (hot,) = eventually(lambda: bystander.get("/messages").json()["items"], lambda items: len(items) == 1)
    assert (hot["kind"], hot["deal"]["title"]) == ("hot", QUOTES[-1])
    shown = site.visitor().get(f"/brands/{slug}/deals")
    assert sorted(deal["title"] for deal in shown.json()["items"]) == sorted(QUOTES)
    assert shown.headers["Content-Type"] == "application/json"
    assert shown.headers["X-Content-Type-Options"] == "nosniff"
    assert {key: item for key, item in dump(site.table).items() if key in people} == people
