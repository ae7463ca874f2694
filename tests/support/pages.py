"""Events for page functions, as API Gateway sends them, and readers of their answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import html5lib

from shared.data.catalog import deals, imports, offers, search, words
from shared.dynamodb.table import Table
from shared.models.catalog import Deal

Ask = Callable[..., Any]
"""Asks a page function for a path."""


def a_context() -> Any:
    """The fields of Lambda's context that the functions look at."""
    return SimpleNamespace(
        aws_request_id="00000000-0000-0000-0000-000000000000",
        function_name="site",
        log_stream_name="2026/06/12/[$LATEST]0123456789abcdef",
        get_remaining_time_in_millis=lambda: 0,
    )


def event_of(
    path: str,
    method: str = "GET",
    *,
    query: Mapping[str, str] | None = None,
    headers: Mapping[str, str] | None = None,
    body: str | None = None,
) -> Any:
    """The event of a request."""
    return {
        "httpMethod": method,
        "path": path,
        "resource": "/{proxy+}" if path.strip("/") else "/",
        "headers": dict(headers or {}),
        "multiValueHeaders": {name: [value] for name, value in (headers or {}).items()},
        "queryStringParameters": dict(query) if query else None,
        "multiValueQueryStringParameters": {name: [value] for name, value in (query or {}).items()} or None,
        "pathParameters": {"proxy": path.strip("/")} if path.strip("/") else None,
        "body": body,
        "isBase64Encoded": False,
        "requestContext": {"requestId": "request-1", "httpMethod": method, "identity": {"sourceIp": "127.0.0.1"}},
    }


def worded(table: Table, new: Sequence[Deal]) -> None:
    """File the words of new deals, as many in a transaction as fit: at once, they would wait for one another."""
    found_by = [frozenset(words.of_deal(deal)) for deal in new]
    for together in imports._together(zip(new, map(len, found_by), found_by, strict=True)):
        table.transact(*search.filing(together))


def offered(table: Table, new: Sequence[Deal]) -> None:
    """File the offers of new deals, twenty in a transaction."""
    for start in range(0, len(new), 20):
        table.transact(*(write for deal in new[start : start + 20] for write in offers.filing(deal)))


def indexed(table: Table, some: list[Deal]) -> list[Deal]:
    """Deals with the words, offers and verdicts that the stream would have written."""
    worded(table, some)
    offered(table, some)
    for deal in some:
        offers.judge_anew(table, None, deal)
    known = {deal.deal_id: deal for deal in some}
    for judged in deals.get_many(table, list(known), consistent=True):
        if judged.verdict:  # which the stream brings, too
            offers.file(table, judged, judged)
            search.file(table, known[judged.deal_id], judged)
    return some


def parsed(answer: Any, *, strict: bool = True) -> Any:
    """The document of a page; with ``strict``, what browsers would have to mend is an error."""
    document, errors = _parsed(answer["body"])
    assert not strict or [error for error in errors if error[1] != "expected-doctype-but-got-chars"] == []
    return document


@lru_cache(maxsize=8)
def _parsed(body: str) -> tuple[Any, list[Any]]:
    """A page's document, which tests only read, and its errors: the last pages are not parsed at each look."""
    parser = html5lib.HTMLParser(strict=False, namespaceHTMLElements=False)
    return parser.parse(body), parser.errors
