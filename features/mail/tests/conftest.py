"""Templates of stages."""

from __future__ import annotations

from tests.infra.conftest import assemblies, dev

__all__ = ["assemblies", "dev"]
