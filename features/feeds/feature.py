"""What shops' feeds add to the core."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(
    does="imports of shops' feeds: Google Merchant, Shopify and JSON, with updates and ends of existing deals",
    in_deals="features.feeds.fields:",
    benchmarks={"imports": "features.feeds.benchmarks:main"},
)
