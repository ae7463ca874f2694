"""CloudFront as its developer guide describes it, configured by a synthesized template; the origin is a function.

Only what the template uses: behaviours by path, cache and origin request policies, Cache-Control with
stale-while-revalidate, ETag revalidation, errors. One edge location, no eviction; what goes on in the background is
done before the next request. The guide's pages: "Manage how long content stays in the cache (expiration)",
"Understand the cache key", "Control how long CloudFront caches errors", "Request and response behavior for custom
origins".
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
"""AWS's own policies, by the ids that its documentation gives."""

ALWAYS_KEPT_ERRORS = {404, 414, 500, 501, 502, 503, 504}
UNKEPT_IF_SAID = {404, 410, 414, 501}
"""Errors for which no-store is obeyed; for others only the error caching minimum TTL counts."""

DEFAULT_ERROR_SECONDS = 10
UNSTORABLE = {"private", "no-store", "no-cache"}

Headers = dict[str, str]
"""Header names are lower case here."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request as a viewer sends it or the origin gets it."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: Headers = field(default_factory=dict)
    body: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; ``result`` is what CloudFront logs of it: Hit, Miss, RefreshHit, Error; or Pass where none is kept."""

    status: int
    headers: Headers
    body: str = ""
    result: str = ""

    @property
    def directives(self) -> dict[str, str]:
        """Cache-Control's."""
        parts = (part.strip().partition("=") for part in self.headers.get("cache-control", "").split(","))
        return {name.lower(): value for name, _, value in parts if name}


@dataclass(slots=True)
class _Stored:
    answer: Answer
    since: float
    seconds: float
    stale: float


@dataclass(slots=True)
class Edge:
    """One edge location."""

    template: Mapping[str, Any]
    origin: Callable[[Request], Answer]
    now: float = 0.0
    stored: dict[tuple[Any, ...], _Stored] = field(default_factory=dict)

    def get(self, url: str, **headers: str) -> Answer:
        """GET a path with its query."""
        return self.send("GET", url, **headers)

    def send(self, method: str, url: str, body: str = "", **headers: str) -> Answer:
        """Send a request; ``_`` in a header's name is a hyphen."""
        split = urlsplit(url)
        names = {name.replace("_", "-").lower(): value for name, value in headers.items()}
        request = Request(method, split.path, tuple(parse_qsl(split.query)), names, body)
        behaviour = self.behaviour(request.path)
        if method not in behaviour["AllowedMethods"]:
            return Answer(403, {}, result="Error")
        if behaviour["CachePolicyId"] == CACHING_DISABLED or method not in ("GET", "HEAD"):
            return replace(self.origin(self._forwarded(request, behaviour)), result="Pass")
        return self._conditional(request, self._cached(request, behaviour))

    def behaviour(self, path: str) -> Mapping[str, Any]:
        """The behaviour of a path: of the first pattern that matches."""
        config = self._distribution
        for each in config["CacheBehaviors"]:
            if fnmatch.fnmatchcase(path, each["PathPattern"]):
                return dict(each)
        return dict(config["DefaultCacheBehavior"])

    def key(self, request: Request) -> tuple[Any, ...]:
        """The key of a stored answer."""
        policy = self._policy(self.behaviour(request.path))["ParametersInCacheKeyAndForwardedToOrigin"]
        return (
            request.path,
            _chosen_query(request, policy["QueryStringsConfig"]),
            tuple(sorted(_chosen_headers(request, policy["HeadersConfig"]).items())),
            _chosen_cookies(request, policy["CookiesConfig"]),
            _codings(request, policy),
        )

    def _cached(self, request: Request, behaviour: Mapping[str, Any]) -> Answer:
        key = self.key(request)
        found = self.stored.get(key)
        if found is None:
            return self._fetch(key, request, behaviour, None)
        age = self.now - found.since
        if age < found.seconds:
            return replace(found.answer, result="Hit")
        answer = self._fetch(key, request, behaviour, found)
        if age < found.seconds + found.stale:
            # The viewer does not wait: it has the stale answer while the fetch above goes on.
            return replace(found.answer, result="RefreshHit" if answer.result == "RefreshHit" else "Hit")
        return answer

    def _fetch(
        self, key: tuple[Any, ...], request: Request, behaviour: Mapping[str, Any], found: _Stored | None
    ) -> Answer:
        forwarded = self._forwarded(request, behaviour)
        if found is not None and "etag" in found.answer.headers:
            forwarded.headers["if-none-match"] = found.answer.headers["etag"]
        answer = self.origin(forwarded)
        if answer.status == 304 and found is not None:
            kept = replace(found.answer, headers=found.answer.headers | answer.headers)
            self._store(key, kept, behaviour)
            return replace(kept, result="RefreshHit")
        self._store(key, answer, behaviour)
        return replace(answer, result="Miss" if answer.status < 400 else "Error")

    def _store(self, key: tuple[Any, ...], answer: Answer, behaviour: Mapping[str, Any]) -> None:
        self.stored.pop(key, None)
        seconds = self._seconds(answer, behaviour)
        if seconds > 0:
            stale = float(answer.directives.get("stale-while-revalidate", 0))
            self.stored[key] = _Stored(answer, self.now, seconds, stale)

    def _seconds(self, answer: Answer, behaviour: Mapping[str, Any]) -> float:
        """For how long an answer is stored."""
        policy, said = self._policy(behaviour), answer.directives
        age = said.get("s-maxage", said.get("max-age"))
        refused = bool(UNSTORABLE & said.keys())
        if answer.status >= 400:
            if answer.status not in ALWAYS_KEPT_ERRORS and age is None:
                return 0
            if refused and answer.status in UNKEPT_IF_SAID:
                return 0
            return max(self._error_seconds(answer.status), float(age or 0))
        if refused:
            return float(policy["MinTTL"])
        if age is None:
            return float(policy["DefaultTTL"])
        return min(max(float(age), float(policy["MinTTL"])), float(policy["MaxTTL"]))

    def _error_seconds(self, status: int) -> float:
        stated = {each["ErrorCode"]: each for each in self._distribution.get("CustomErrorResponses", [])}
        return float(stated.get(status, {}).get("ErrorCachingMinTTL", DEFAULT_ERROR_SECONDS))

    def _forwarded(self, request: Request, behaviour: Mapping[str, Any]) -> Request:
        """The request that the origin gets."""
        (origin,) = (each for each in self._distribution["Origins"] if each["Id"] == behaviour["TargetOriginId"])
        request = replace(request, path=origin.get("OriginPath", "") + request.path)
        added = {each["HeaderName"].lower(): str(each["HeaderValue"]) for each in origin["OriginCustomHeaders"]}
        added["x-forwarded-for"] = ", ".join(
            filter(None, [request.headers.get("x-forwarded-for"), request.headers.get("viewer-address", "192.0.2.7")])
        )
        if behaviour.get("OriginRequestPolicyId") == ALL_VIEWER_EXCEPT_HOST:
            kept = {name: value for name, value in request.headers.items() if name != "host"}
            return replace(request, headers=kept | added)
        key = self._policy(behaviour)["ParametersInCacheKeyAndForwardedToOrigin"]
        headers = _chosen_headers(request, key["HeadersConfig"])
        query = _chosen_query(request, key["QueryStringsConfig"])
        if "OriginRequestPolicyId" in behaviour:
            more = self._config(behaviour["OriginRequestPolicyId"], "OriginRequestPolicyConfig")
            headers |= _chosen_headers(request, more["HeadersConfig"])
            query += _chosen_query(request, more["QueryStringsConfig"])
        if _chosen_cookies(request, key["CookiesConfig"]):
            headers["cookie"] = request.headers["cookie"]
        if codings := _codings(request, key):
            headers["accept-encoding"] = codings
        return replace(request, query=query, headers=headers | added)

    def _conditional(self, request: Request, answer: Answer) -> Answer:
        """304 for a viewer who has the answer already."""
        etag = answer.headers.get("etag")
        if answer.status == 200 and etag is not None and request.headers.get("if-none-match") == etag:
            return replace(answer, status=304, body="")
        return answer

    def _policy(self, behaviour: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._config(behaviour["CachePolicyId"], "CachePolicyConfig")

    def _config(self, reference: Mapping[str, str], name: str) -> Mapping[str, Any]:
        return dict(self.template["Resources"][reference["Ref"]]["Properties"][name])

    @property
    def _distribution(self) -> Mapping[str, Any]:
        (found,) = (
            each["Properties"]["DistributionConfig"]
            for each in self.template["Resources"].values()
            if each["Type"] == "AWS::CloudFront::Distribution"
        )
        return dict(found)


def _chosen_query(request: Request, config: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    match config["QueryStringBehavior"]:
        case "none":
            return ()
        case "whitelist":
            return tuple(pair for pair in request.query if pair[0] in config["QueryStrings"])
    raise NotImplementedError(config)


def _chosen_headers(request: Request, config: Mapping[str, Any]) -> Headers:
    match config["HeaderBehavior"]:
        case "none":
            return {}
        case "whitelist":
            wanted = {name.lower() for name in config["Headers"]}
            return {name: value for name, value in request.headers.items() if name in wanted}
    raise NotImplementedError(config)


def _chosen_cookies(request: Request, config: Mapping[str, Any]) -> str:
    match config["CookieBehavior"]:
        case "none":
            return ""
        case "all":
            return request.headers.get("cookie", "")
    raise NotImplementedError(config)


def _codings(request: Request, policy: Mapping[str, Any]) -> str:
    """Accept-Encoding, reduced to the codings that CloudFront knows and the policy allows."""
    allowed = {"br": policy["EnableAcceptEncodingBrotli"], "gzip": policy["EnableAcceptEncodingGzip"]}
    accepted = re.findall(r"[a-z*]+", request.headers.get("accept-encoding", ""))
    return ",".join(name for name, is_allowed in allowed.items() if is_allowed and name in accepted)


def url(path: str, query: Mapping[str, str]) -> str:
    """A path with a query."""
    return f"{path}?{urlencode(query)}" if query else path
