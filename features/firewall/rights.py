"""The setting that puts a firewall in front of both APIs."""

from __future__ import annotations

from dataclasses import dataclass

from infra.stage import Option


@dataclass(frozen=True, slots=True)
class Firewall(Option):
    """AWS WAF in front of both APIs; ``features/firewall/README.md`` describes what it refuses and its cost."""

    guards_apis = True
    services = ("wafv2",)
