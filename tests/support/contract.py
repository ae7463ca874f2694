"""Every answer of the site checked against the OpenAPI document that the site itself serves."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import httpx
from jsonschema import Draft202012Validator

PROBLEM = "application/problem+json"

FROM_THE_GATEWAY = {404, 413, 429}
"""Statuses that the gateway may answer before it knows the route."""


@dataclass(frozen=True, slots=True)
class Contract:
    """The document, and where its paths start."""

    document: dict[str, Any] = field(repr=False)
    root: str = "/v1"

    def check(self, response: httpx.Response) -> None:
        """Hold an answer against what is documented for its route and status."""
        response.read()
        request = response.request
        said = f"{request.method} {request.url.raw_path.decode()}: {response.status_code} {response.text[:500]}"
        assert response.status_code < 500, said
        operation = self._operation(request)
        if operation is None:
            assert response.status_code == 404, said
            documented = self.document["paths"]["/deals/{dealId}"]["get"]["responses"]["404"]
        else:
            documented = operation["responses"].get(str(response.status_code))
            if documented is None and response.status_code in FROM_THE_GATEWAY:
                documented = operation["responses"]["429"]
            assert documented is not None, f"undocumented status - {said}"
        content = documented.get("content")
        if content is None:
            assert response.content == b"", said
            return
        ((media_type, body),) = content.items()
        assert response.headers["Content-Type"].partition(";")[0] == media_type, said
        if request.method == "HEAD":
            assert response.content == b"", said
            return
        if media_type == "text/html":
            return
        schema = {**body["schema"], "components": self.document["components"]}
        faults = [
            f"{fault.json_path}: {fault.message}" for fault in Draft202012Validator(schema).iter_errors(response.json())
        ]
        assert not faults, f"{faults[:3]} - {said}"
        if media_type == PROBLEM:
            assert response.json()["status"] == response.status_code, said

    def _operation(self, request: httpx.Request) -> dict[str, Any] | None:
        path = request.url.raw_path.decode().partition("?")[0].removeprefix(self.root)
        # HEAD is answered as GET is, and not documented beside it.
        method = "get" if request.method == "HEAD" else request.method.lower()
        fitting = [each for each in self.document["paths"] if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", each), path)]
        # Paths without parameters come first: /me/watches is no /me/{something}.
        template = min(fitting, key=lambda each: each.count("{"), default="")
        return dict(self.document["paths"].get(template, {})).get(method)


def assert_problem(response: httpx.Response, status: int, *fields: str) -> dict[str, Any]:
    """Assert that an answer is a problem document of a status that names exactly some fields."""
    assert response.status_code == status, response.text[:500]
    assert response.headers["Content-Type"] == PROBLEM
    problem: dict[str, Any] = response.json()
    assert problem["status"] == status
    assert problem["title"]
    assert {error["field"] for error in problem.get("errors", [])} == set(fields), problem
    assert "Traceback" not in response.text
    assert "botocore" not in response.text
    return problem
