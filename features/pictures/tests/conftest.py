"""Templates of stages."""

from __future__ import annotations

from tests.infra.conftest import assemblies, prod

__all__ = ["assemblies", "prod"]
