"""The settings that put CloudFront in front of both APIs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.stage import Option

if TYPE_CHECKING:
    from infra.stage import Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Cdn(Option):
    """CloudFront in front of both APIs; ``features/cdn/README.md`` explains each setting.

    With ``closes_apis``, functions take a reader's address from X-Forwarded-For, to which CloudFront adds it:
    https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/RequestAndResponseBehaviorCustomOrigin.html
    """

    in_front = True

    domain_name: str | None = None
    certificate_arn: str | None = None
    price_class: str = "PRICE_CLASS_100"
    countries: tuple[str, ...] = ()
    web_acl_arn: str | None = None
    closes_apis: bool = False
    word: int = 1
    subdomains_too: bool = False

    def __post_init__(self) -> None:
        if (self.domain_name is None) != (self.certificate_arn is None):
            raise ValueError("A domain name and its certificate go together.")

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
