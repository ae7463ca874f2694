"""CloudFront as its developer guide describes it, configured by a synthesized template; the origin is a function.

Only what the template uses: behaviours by path, cache and origin request policies, Cache-Control with
stale-while-revalidate, ETag revalidation, errors. One edge location, no eviction; what goes on in the background is
done before the next request. The guide's pages: "Manage how long content stays in the cache (expiration)",
"Understand the cache key", "Control how long CloudFront caches errors", "Request and response behavior for custom
origins".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tests.support.gateway import Answer, Request

CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
CACHING_OPTIMIZED = "658327ea-f89d-4fab-a63d-7e88639e58f6"
ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
"""AWS's own policies, by the ids that its documentation gives."""

ALWAYS_KEPT_ERRORS = {404, 414, 500, 501, 502, 503, 504}
UNKEPT_IF_SAID = {404, 410, 414, 501}
"""Errors for which no-store is obeyed; for others only the error caching minimum TTL counts."""

DEFAULT_ERROR_SECONDS = 10
UNSTORABLE = {"private", "no-store", "no-cache"}


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
        answer = self._cached(request, behaviour)
        if answer.status == 200 and names.get("if-none-match", "") == answer.headers.get("etag"):
            return replace(answer, status=304, body="")  # the viewer has it already
        return answer

    def behaviour(self, path: str) -> Mapping[str, Any]:
        """The behaviour of a path: of the first pattern that matches."""
        fitting = (each for each in self._distribution["CacheBehaviors"] if fnmatchcase(path, each["PathPattern"]))
        return dict(next(fitting, self._distribution["DefaultCacheBehavior"]))

    def _cached(self, request: Request, behaviour: Mapping[str, Any]) -> Answer:
        policy = self._policy(behaviour)["ParametersInCacheKeyAndForwardedToOrigin"]
        query, headers, cookies = (_chosen(request, policy, kind) for kind in ("QueryString", "Header", "Cookie"))
        key = (request.path, query, frozenset(headers), cookies, _codings(request, policy))
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
            stated = {each["ErrorCode"]: each for each in self._distribution.get("CustomErrorResponses", [])}
            least = stated.get(answer.status, {}).get("ErrorCachingMinTTL", DEFAULT_ERROR_SECONDS)
            return max(float(least), float(age or 0))
        if refused:
            return float(policy["MinTTL"])
        if age is None:
            return float(policy["DefaultTTL"])
        return min(max(float(age), float(policy["MinTTL"])), float(policy["MaxTTL"]))

    def _forwarded(self, request: Request, behaviour: Mapping[str, Any]) -> Request:
        """The request that the origin gets."""
        (origin,) = (each for each in self._distribution["Origins"] if each["Id"] == behaviour["TargetOriginId"])
        request = replace(request, path=origin.get("OriginPath", "") + request.path)
        added = {each["HeaderName"].lower(): str(each["HeaderValue"]) for each in origin["OriginCustomHeaders"]}
        hops = [request.headers.get("x-forwarded-for"), request.headers.get("viewer-address", "192.0.2.7")]
        added["x-forwarded-for"] = ", ".join(filter(None, hops))
        if behaviour.get("OriginRequestPolicyId") == ALL_VIEWER_EXCEPT_HOST:
            kept = {name: value for name, value in request.headers.items() if name != "host"}
            return replace(request, headers=kept | added)
        key = self._policy(behaviour)["ParametersInCacheKeyAndForwardedToOrigin"]
        policies = [key]
        if "OriginRequestPolicyId" in behaviour:
            policies.append(self._config(behaviour["OriginRequestPolicyId"], "OriginRequestPolicyConfig"))
        query = tuple(pair for policy in policies for pair in _chosen(request, policy, "QueryString"))
        headers = dict(pair for policy in policies for pair in _chosen(request, policy, "Header"))
        headers |= dict(_chosen(request, key, "Cookie"))
        if codings := _codings(request, key):
            headers["accept-encoding"] = codings
        return replace(request, query=query, headers=headers | added)

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


def _chosen(request: Request, policy: Mapping[str, Any], kind: str) -> tuple[tuple[str, str], ...]:
    """The parts of a request that a policy chooses: of its query, its headers, or its header of cookies."""
    config = policy[f"{kind}sConfig"]
    match kind, config[f"{kind}Behavior"]:
        case _, "none":
            return ()
        case "QueryString", "whitelist":
            return tuple(pair for pair in request.query if pair[0] in config["QueryStrings"])
        case "Header", "whitelist":
            wanted = {name.lower() for name in config["Headers"]}
            return tuple(pair for pair in request.headers.items() if pair[0] in wanted)
        case "Cookie", "all":
            return tuple(pair for pair in request.headers.items() if pair[0] == "cookie")
    raise NotImplementedError(config)


def _codings(request: Request, policy: Mapping[str, Any]) -> str:
    """Accept-Encoding, reduced to the codings that CloudFront knows and the policy allows."""
    allowed = {"br": policy["EnableAcceptEncodingBrotli"], "gzip": policy["EnableAcceptEncodingGzip"]}
    accepted = re.findall(r"[a-z*]+", request.headers.get("accept-encoding", ""))
    return ",".join(name for name, is_allowed in allowed.items() if is_allowed and name in accepted)
