"""Templates of stages."""

from __future__ import annotations

from tests.infra.conftest import assemblies, full, prod

__all__ = ["assemblies", "full", "prod"]
