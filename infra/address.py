"""The address of the site: CloudFront's, a custom domain, or the gateway's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import CfnOutput, Stack

from infra.api import DealsApi
from infra.cdn.edge import Edge
from infra.cdn.secret import OriginSecret
from infra.pages import SiteApi, SiteDomain
from shared.api import paths

if TYPE_CHECKING:
    from infra.settings import Stage


def give_address(
    stack: Stack, stage: Stage, api: DealsApi, site: SiteApi, private: list[str], secret: OriginSecret | None
) -> None:
    """Give the site its address, and output it. CloudFront keeps nothing below the ``private`` prefixes."""
    address = stage.origin
    if stage.cdn and secret:
        edge = Edge(stack, "Cdn", stage=stage, cdn=stage.cdn, api=api, site=site, private=private, secret=secret)
        address = address or f"https://{edge.host}"
        CfnOutput(stack, "CdnUrl", value=f"https://{edge.host}{paths.ROOT}/")
        CfnOutput(stack, "CdnDomainName", value=edge.domain_name)
    if stage.domain:
        domain = SiteDomain(stack, "Domain", domain=stage.domain, site=site, api=api, version=paths.VERSION)
        CfnOutput(stack, "SiteTarget", value=domain.domain.domain_name_alias_domain_name)
    CfnOutput(stack, "SiteUrl", value=f"{address}/" if address else site.url)
    CfnOutput(stack, "SiteId", value=site.api.rest_api_id)
