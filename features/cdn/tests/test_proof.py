"""The proof that closed APIs answer CloudFront alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from cli.proofs import Deployed, Fails, NotHere
from features.cdn import commands
from features.cdn.rights import Cdn
from tests.support.proofs import DEV, OUTPUTS, Aws, answers, meets, refusal  # noqa: F401  # fixtures

CLOSED = dataclasses.replace(DEV, options=(Cdn(closes_apis=True),))


@pytest.mark.parametrize(
    ("direct", "through", "holds"), [(401, 200, True), (200, 200, False), (401, 401, False)], ids=str
)
def test_closed_apis_answer_cloudfront_alone(
    meets: Callable[..., Deployed], answers: Any, direct: int, through: int, holds: bool
) -> None:
    answers({"https://api.example/v1/front-page": [(direct, "")], "https://cdn.example/v1/front-page": [(through, "")]})
    site = meets(Aws(), CLOSED)

    if holds:
        assert commands.closed(site) == "401 directly, 200 through CloudFront"
    else:
        with pytest.raises(Fails, match=f"directly it answers {direct}, through CloudFront {through}"):
            commands.closed(site)


def test_apis_that_are_not_closed_cannot_prove_it(meets: Callable[..., Deployed], answers: Any) -> None:
    answers({"https://api.example/v1/front-page": [(200, "")]})

    with pytest.raises(NotHere, match="answers 200"):
        commands.closed(meets(Aws()))
