"""The parts of an API Gateway event that are read."""

from __future__ import annotations

from typing import Any

import pytest

from shared.http.requests import path


@pytest.mark.parametrize(
    ("asked", "resource", "parameters", "found"),
    [
        ("/deals", "/deals", None, "/deals"),
        ("/v1/deals", "/deals", None, "/deals"),
        ("/shop/api/deals", "/deals", None, "/deals"),
        ("/v1/deals/", "/deals", None, "/deals/"),
        ("/v1/brands/g%2Ffore/deals", "/brands/{brand}/deals", {"brand": "g%2Ffore"}, "/brands/g%2Ffore/deals"),
        ("/v1/v1/deals", "/{proxy+}", {"proxy": "v1/deals"}, "/v1/deals"),
        ("/web/brands/allbirds", "/{proxy+}", {"proxy": "brands/allbirds"}, "/brands/allbirds"),
        ("/web/my/saved", "/my/{proxy+}", {"proxy": "saved"}, "/my/saved"),
        ("/web", "/", None, "/"),
        ("/", "/", None, "/"),
    ],
)
def test_the_base_path_of_a_custom_domain_is_not_part_of_the_path(
    asked: str, resource: str, parameters: dict[str, str] | None, found: str
) -> None:
    event: dict[str, Any] = {"path": asked, "resource": resource, "pathParameters": parameters}

    assert path(event) == found
