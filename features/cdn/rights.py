"""The settings that put CloudFront in front of both APIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.stage import Option

if TYPE_CHECKING:
    from infra.stage import Stage

HOME = "us-east-1"
"""The region of CloudFront's certificates, web ACLs and deliveries of logs, for all viewers.
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/standard-logging.html
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cnames-and-https-requirements.html"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdn(Option):
    """CloudFront in front of both APIs; ``features/cdn/README.md`` explains each setting.

    With ``closes_apis``, functions take a reader's address from X-Forwarded-For, to which CloudFront adds it:
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/RequestAndResponseBehaviorCustomOrigin.html
    """

    in_front = True

    domain_name: str | None = None
    certificate_arn: str | None = None
    zone_id: str | None = None
    price_class: str = "PRICE_CLASS_100"
    countries: tuple[str, ...] = ()
    web_acl_arn: str | None = None
    closes_apis: bool = False
    word: int = 1
    subdomains_too: bool = False
    distribution_id: str | None = None
    log_bucket: str | None = None

    def __post_init__(self) -> None:
        for name in ("certificate_arn", "web_acl_arn"):
            arn = getattr(self, name)
            if arn is not None and arn.split(":")[3:4] != [HOME]:
                raise ValueError(f"{name} must be one of {HOME}, where CloudFront looks for it, and not {arn}.")
        if (self.distribution_id is None) != (self.log_bucket is None):
            raise ValueError("distribution_id and log_bucket go together: both are outputs of the stage's stack.")
        if (self.domain_name is None) != (self.certificate_arn is None):
            raise ValueError("A domain name and its certificate go together.")
        if self.zone_id is not None and self.domain_name is None:
            raise ValueError("zone_id is the hosted zone of domain_name, which must be set, too.")

    @property
    def host(self) -> str | None:
        """Its own name, or None for CloudFront's."""
        return self.domain_name

    def check(self, stage: Stage) -> None:
        """Raise ValueError for a stage whose own name would lead to closed APIs."""
        if self.closes_apis and stage.domain:
            raise ValueError(
                "domain must not be set where cdn closes_apis: it would lead to APIs that refuse everyone."
            )
