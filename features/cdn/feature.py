"""CloudFront in front of both APIs, which it may close to all others."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(does="CloudFront in front of both APIs, which it may close to all others")
