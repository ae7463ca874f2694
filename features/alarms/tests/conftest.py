"""Templates of stages."""

from __future__ import annotations

from tests.infra.conftest import assemblies, dev, full, prod

__all__ = ["assemblies", "dev", "full", "prod"]
