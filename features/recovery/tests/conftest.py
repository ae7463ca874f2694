"""Templates of stages."""

from __future__ import annotations

from tests.infra.conftest import assemblies, everything, prod

__all__ = ["assemblies", "everything", "prod"]
