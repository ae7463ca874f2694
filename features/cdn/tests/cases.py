"""CloudFront in tests of all features."""

from __future__ import annotations

from features.cdn.rights import Cdn

OPTIONS = (
    Cdn(
        domain_name="deals.example",
        certificate_arn="arn:aws:acm:us-east-1:111122223333:certificate/1",
        closes_apis=True,
        distribution_id="E1A2B3C4D5E6F7",
        log_bucket="bigtimedeals-everything-cdnlog",
    ),
)
KEPT = ("CdnDistribution149FA6C8", "CdnLog41507F68", "OriginWord17D1FE275")
