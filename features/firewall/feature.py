"""AWS WAF in front of both APIs, on stages that have the setting."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(does="AWS WAF in front of both APIs, on stages that have the setting")
