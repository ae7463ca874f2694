"""CloudFront in front of the API, as a stack of its own: public pages are kept for seconds, credentials never.

The paths are the API's own (``/v1/...``). Only the public GETs of ``infra/routes.py`` have a behaviour that caches, so
a new route is not cached until it is public. What may be kept and for how long is the origin's to say by Cache-Control.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aws_cdk import Aws, CfnOutput, CfnRule, CfnRuleAssertion, Duration, Fn, RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.checks import accept
from infra.routes import ROUTES, Caller, Route
from shared.api import paths

if TYPE_CHECKING:
    from infra.settings import Cdn, Stage

REGION = "us-east-1"
"""Where CloudFront's logs are delivered from and its certificates and firewalls are kept, wherever its viewers are."""

QUERY = ("cursor", "limit")
"""The parameters of public pages. Others are neither part of the cache's key nor sent on: they cannot split it."""

CREDENTIAL = "Authorization"

ERRORS = (400, 403, 404, 405, 414, 500, 501, 502, 503, 504)
"""The errors that CloudFront would keep for ten seconds, most of them whatever their Cache-Control says."""

LOGGED = (
    *("date", "time", "x-edge-location", "x-edge-request-id", "c-ip", "cs-method", "cs-uri-stem", "sc-status"),
    *("sc-bytes", "cs-bytes", "time-taken", "time-to-first-byte", "x-edge-result-type", "ssl-protocol"),
)
"""What is logged of a request: neither its cookies nor its query."""

DOCS_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The one page there is, ``/v1/docs``, is whole in itself; everything else is JSON."""

_SECOND_TO_NONE = 48  # characters of the word that only CloudFront knows: 285 bits


def cached_patterns(routes: Sequence[Route] = ROUTES) -> list[str]:
    """The path patterns of the public pages."""
    return _patterns(route for route in routes if route.method == "GET" and route.caller is Caller.ANYONE)


def uncached_patterns(routes: Sequence[Route] = ROUTES) -> list[str]:
    """The path patterns of what is no public page but looks like one to CloudFront, whose ``*`` matches slashes."""
    cached = cached_patterns(routes)
    return [
        pattern
        for pattern in _patterns(routes)
        if pattern not in cached and any(fnmatch.fnmatchcase(pattern, page) for page in cached)
    ]


class OriginSecret(Construct):
    """A word that CloudFront sends along and the API asks for: who goes round CloudFront is refused.

    As the Referer, since that is the one header that a REST API's resource policy can look at; no firewall is needed.
    """

    def __init__(self, scope: Construct, construct_id: str) -> None:
        super().__init__(scope, construct_id)
        self.secret = secretsmanager.Secret(
            self,
            "Secret",
            description="Sent by CloudFront to the API, which answers nobody else",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                exclude_punctuation=True, password_length=_SECOND_TO_NONE
            ),
        )
        accept(
            self.secret,
            "It opens nothing but the way past a cache. A new one is a deployment of both stacks (docs/deploying.md).",
            "AwsSolutions-SMG4",
            "CKV_AWS_149",
        )

    @property
    def word(self) -> str:
        """The word, as a reference that CloudFormation resolves at deployment."""
        return self.secret.secret_value.unsafe_unwrap()

    def policy(self) -> iam.PolicyDocument:
        """A resource policy that refuses all requests without the word."""
        everyone: dict[str, Any] = {
            "principals": [iam.AnyPrincipal()],
            "actions": ["execute-api:Invoke"],
            "resources": ["execute-api:/*"],
        }
        return iam.PolicyDocument(
            statements=[
                iam.PolicyStatement(effect=iam.Effect.ALLOW, **everyone),
                iam.PolicyStatement(
                    effect=iam.Effect.DENY, conditions={"StringNotEquals": {"aws:Referer": self.word}}, **everyone
                ),
            ]
        )


class CdnStack(Stack):
    """The distribution, its policies and its log."""

    def __init__(
        self,
        scope: Construct,
        *,
        stage: Stage,
        cdn: Cdn,
        api: apigateway.RestApi,
        secret: OriginSecret,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            scope,
            f"{stage.stack_name}-Cdn",
            description=f"Big Time Deals ({stage.name}): CloudFront in front of the API",
            termination_protection=stage.keeps_data,
            **kwargs,
        )
        CfnRule(
            self,
            "Home",
            assertions=[
                CfnRuleAssertion(
                    assert_=Fn.condition_equals(Aws.REGION, REGION),
                    assert_description=f"CloudFront's logs can be set up in {REGION} only: deploy both stacks there.",
                )
            ],
        )
        origin = origins.HttpOrigin(
            # No origin path: the API's stage is the first part of every path already.
            f"{api.rest_api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}",
            protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
            origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
            custom_headers={"Referer": secret.word},
        )
        common: dict[str, Any] = {
            "origin": origin,
            "viewer_protocol_policy": cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
            # Methods that a path does not have are refused by the API, in its own words.
            "allowed_methods": cloudfront.AllowedMethods.ALLOW_ALL,
            "response_headers_policy": self._response_headers(),
            "compress": True,
        }
        uncached = cloudfront.BehaviorOptions(
            cache_policy=cloudfront.CachePolicy.CACHING_DISABLED,
            # Sends Authorization on; Host would lead the API's front door to nowhere.
            origin_request_policy=cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
            **common,
        )
        cached = cloudfront.BehaviorOptions(
            cache_policy=self._page_policy(), origin_request_policy=self._page_request_policy(), **common
        )
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"Big Time Deals ({stage.name})",
            default_behavior=uncached,
            # The first pattern that matches is taken.
            additional_behaviors=dict.fromkeys(uncached_patterns(), uncached)
            | dict.fromkeys(cached_patterns(), cached),
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            price_class=cloudfront.PriceClass[cdn.price_class],
            geo_restriction=cloudfront.GeoRestriction.allowlist(*cdn.countries) if cdn.countries else None,
            web_acl_id=cdn.web_acl_arn,
            error_responses=[
                cloudfront.ErrorResponse(http_status=status, ttl=Duration.seconds(0)) for status in ERRORS
            ],
            **self._names(cdn),
        )
        self._log(stage, distribution)
        self._accept(cdn, distribution)
        host = cdn.domain_name or distribution.distribution_domain_name
        CfnOutput(self, "CdnUrl", value=f"https://{host}{paths.ROOT}/")
        CfnOutput(self, "CdnDomainName", value=distribution.distribution_domain_name)

    def _page_policy(self) -> cloudfront.CachePolicy:
        """What tells one public page from another, and for how long one may be kept.

        Credentials are part of the key: a request that has some never meets a shared page, and the origin marks the
        answer private, which CloudFront does not store while the least time to keep is zero.
        """
        return cloudfront.CachePolicy(
            self,
            "Pages",
            comment="Public pages: path, limit and cursor; requests with credentials apart from all others",
            min_ttl=Duration.seconds(0),
            # What does not say that it may be kept is not.
            default_ttl=Duration.seconds(0),
            max_ttl=Duration.hours(1),
            query_string_behavior=cloudfront.CacheQueryStringBehavior.allow_list(*QUERY),
            header_behavior=cloudfront.CacheHeaderBehavior.allow_list(CREDENTIAL),
            cookie_behavior=cloudfront.CacheCookieBehavior.all(),
            enable_accept_encoding_gzip=True,
            enable_accept_encoding_brotli=True,
        )

    def _page_request_policy(self) -> cloudfront.OriginRequestPolicy:
        """What the origin sees besides the key: what a POST or PATCH of the same path needs.

        Not Accept, and so the origin sends its pages plain: CloudFront compresses them better, and for nothing.
        """
        return cloudfront.OriginRequestPolicy(
            self,
            "PageRequests",
            comment="What writes to the path of a public page need",
            header_behavior=cloudfront.OriginRequestHeaderBehavior.allow_list("Content-Type", "Idempotency-Key"),
        )

    def _response_headers(self) -> cloudfront.ResponseHeadersPolicy:
        return cloudfront.ResponseHeadersPolicy(
            self,
            "Security",
            comment="For browsers: HTTPS only, no guessing of types, no frames",
            security_headers_behavior=cloudfront.ResponseSecurityHeadersBehavior(
                strict_transport_security=cloudfront.ResponseHeadersStrictTransportSecurity(
                    access_control_max_age=Duration.days(365), include_subdomains=True, override=True
                ),
                content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
                frame_options=cloudfront.ResponseHeadersFrameOptions(
                    frame_option=cloudfront.HeadersFrameOption.DENY, override=True
                ),
                referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(
                    referrer_policy=cloudfront.HeadersReferrerPolicy.NO_REFERRER, override=True
                ),
                content_security_policy=cloudfront.ResponseHeadersContentSecurityPolicy(
                    content_security_policy=DOCS_POLICY, override=False
                ),
            ),
        )

    def _names(self, cdn: Cdn) -> dict[str, Any]:
        if cdn.domain_name is None or cdn.certificate_arn is None:
            return {}
        certificate = acm.Certificate.from_certificate_arn(self, "Certificate", cdn.certificate_arn)
        return {"domain_names": [cdn.domain_name], "certificate": certificate}

    def _accept(self, cdn: Cdn, distribution: cloudfront.Distribution) -> None:
        accept(
            distribution,
            "It is logged by CloudFront's standard logging, version 2, which is no property of the distribution.",
            "AwsSolutions-CFR3",
            "CKV_AWS_86",
        )
        if cdn.certificate_arn is None:
            accept(
                distribution,
                "CloudFront's own name comes with its own certificate and TLS; a name of one's own is a setting.",
                "AwsSolutions-CFR4",
                "CKV_AWS_174",
            )
        if not cdn.countries:
            accept(
                distribution,
                "Deals are for readers everywhere; the countries served are a setting.",
                "AwsSolutions-CFR1",
            )
        if cdn.web_acl_arn is None:
            accept(
                distribution,
                "A firewall is a setting: of $0.60 per million requests, where CloudFront itself takes $1.",
                "AwsSolutions-CFR2",
                "CKV_AWS_68",
            )

    def _log(self, stage: Stage, distribution: cloudfront.Distribution) -> None:
        """Access logs (standard logging, version 2) to a bucket that only their delivery writes to."""
        bucket = s3.Bucket(
            self,
            "Log",
            encryption=s3.BucketEncryption.S3_MANAGED,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            removal_policy=RemovalPolicy.RETAIN,
            lifecycle_rules=[
                s3.LifecycleRule(
                    expiration=Duration.days(stage.log_retention_days),
                    abort_incomplete_multipart_upload_after=Duration.days(1),
                )
            ],
        )
        source = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:delivery-source:*"
        bucket.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal("delivery.logs.amazonaws.com")],
                actions=["s3:PutObject"],
                resources=[bucket.arn_for_objects(f"AWSLogs/{Aws.ACCOUNT_ID}/*")],
                conditions={
                    "StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID},
                    "ArnLike": {"aws:SourceArn": source},
                },
            )
        )
        delivery_source = logs.CfnDeliverySource(
            self,
            "LogSource",
            name=f"{self.stack_name}-access",
            log_type="ACCESS_LOGS",
            resource_arn=distribution.distribution_arn,
        )
        destination = logs.CfnDeliveryDestination(
            self,
            "LogDestination",
            name=f"{self.stack_name}-access",
            destination_resource_arn=bucket.bucket_arn,
            output_format="json",
        )
        delivery = logs.CfnDelivery(
            self,
            "LogDelivery",
            delivery_source_name=delivery_source.name,
            delivery_destination_arn=destination.attr_arn,
            record_fields=list(LOGGED),
        )
        delivery.add_resource_dependency(delivery_source)
        accept(
            bucket,
            "It holds logs itself, which one service writes under names of their own; logs of logs have no end.",
            "AwsSolutions-S1",
            "CKV_AWS_18",
            "CKV_AWS_21",
        )
        if bucket.policy is not None:
            destination.node.add_dependency(bucket.policy)


def _patterns(routes: Any) -> list[str]:
    """Distinct path patterns, the longer before the shorter."""
    found = {paths.ROOT + re.sub(r"{\w+}", "*", route.path) for route in routes}
    return sorted(found, key=lambda pattern: (-len(pattern), pattern))
