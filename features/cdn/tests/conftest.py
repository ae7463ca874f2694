"""Templates of stages, and the one of prod behind CloudFront."""

from __future__ import annotations

import dataclasses

import pytest

from features.cdn.rights import Cdn
from infra.settings import STAGES
from tests.infra.conftest import Synthesized, assemblies, dev, everything, prod, synthesize

__all__ = ["assemblies", "dev", "everything", "prod"]

CLOSED = Cdn(closes_apis=True)
"""Names lead to CloudFront, and the APIs answer nobody else."""


@pytest.fixture(scope="session")
def closed() -> Synthesized:
    """The template of prod behind CloudFront."""
    return synthesize(dataclasses.replace(STAGES["prod"], options=(CLOSED,)))
