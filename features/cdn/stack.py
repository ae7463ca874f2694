"""CloudFront in front of both APIs: public pages and answers are cached for seconds, private ones never.

Below ``/v1`` only the public GETs of ``infra/functions.py`` have a caching behaviour, so a new route isn't cached until
it is public. Pages of the function ``site`` are cached and get no cookies; paths of other functions aren't cached. The
origin's Cache-Control decides what may be kept, and for how long. The access log is standard logging, version 2, to a
bucket that only its delivery writes to.

The distribution is part of the stage's stack, in whatever region: CloudFront takes it from each. A separate stack would
import the API's id and the secret word, and CloudFormation keeps exports in use
(docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-stack-exports.html), so the setting couldn't be
switched off. Only the delivery of its logs must be set up in us-east-1: for it, a stage elsewhere has a small stack
there (``EdgeStack``), which knows the distribution and the bucket by settings. The bucket, with readers' addresses, is
where the rest of the data is.
"""

from __future__ import annotations

import fnmatch
import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

from aws_cdk import Annotations, App, Aws, CfnOutput, CfnRule, CfnRuleAssertion, Duration, Environment, Fn, Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_cloudfront as cloudfront
from aws_cdk import aws_cloudfront_origins as origins
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from features.cdn.rights import HOME, Cdn
from infra import nag
from infra.functions import FUNCTIONS, ROUTES, Route
from infra.gateway import STYLE_SOURCE, DealsApi, Gateway, SiteApi
from infra.nag import Acceptance, accept
from infra.names import alias
from infra.site import Site
from infra.stage import SITE_STAGE, Stage
from infra.storage import Bucket, gone_after
from shared.api.app import ROOT
from shared.http.requests import SELECTING

_WORD_OPENS_LITTLE = Acceptance(
    "It opens nothing but the way past a cache. A new one is a deployment (features/cdn/README.md).",
    "AwsSolutions-SMG4",
    "CKV_AWS_149",
)
_LOGGED_BY_VERSION_2 = Acceptance(
    "It is logged by CloudFront's standard logging, version 2, which is no property of the distribution.",
    "AwsSolutions-CFR3",
    "CKV_AWS_86",
)
_CLOUDFRONTS_OWN_NAME = Acceptance(
    "CloudFront's own name comes with its own certificate and TLS; a name of one's own is a setting.",
    "AwsSolutions-CFR4",
    "CKV_AWS_174",
)
_FOR_ALL_COUNTRIES = Acceptance(
    "Deals are for readers everywhere; the countries served are a setting.", "AwsSolutions-CFR1"
)
_CLOUDFRONT_WITHOUT_FIREWALL = Acceptance(
    "A firewall is a setting: of $0.60 per million requests, where CloudFront itself takes $1.",
    "AwsSolutions-CFR2",
    "CKV_AWS_68",
)
_LOGS_OF_LOGS = Acceptance(
    "It holds logs itself, which one service writes under names of their own; logs of logs have no end.",
    *nag.NO_LOG_NO_VERSIONS,
)


def add(stack: Stack, site: Site) -> None:
    """Add the distribution if the stage has the settings, and close its APIs if they say so."""
    if cdn := site.stage.option(Cdn):
        secret = OriginSecret(stack, version=cdn.word)
        if cdn.closes_apis:
            for gateway in site.gateways.values():
                gateway.refuse(secret.missing)
        edge = Edge(stack, stage=site.stage, cdn=cdn, api=site.api, site=site.pages, secret=secret)
        site.origin = site.origin or edge.origin


_WORD_LENGTH = 48  # characters of the word that only CloudFront knows: 285 bits


class OriginSecret(Construct):
    """A secret that CloudFront sends. Closed APIs refuse requests without it.

    It is sent as the Referer, because a REST API's resource policy can check only this header and User-Agent; so no
    firewall is needed
    (docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-resource-policies-aws-condition-keys.html). Raising
    ``version`` by one makes a new word. The previous word is still accepted, because CloudFront's edges take minutes to
    learn the new one. Older words are deleted.
    """

    def __init__(self, scope: Construct, *, version: int) -> None:
        super().__init__(scope, "Origin")
        self._words = [self._secret(each) for each in range(max(1, version - 1), version + 1)]

    def _secret(self, version: int) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            f"Word{version}",
            description="Sent by CloudFront to the APIs, which may refuse all other requests",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                secret_string_template=json.dumps({"closed": "true"}),
                generate_string_key="word",
                exclude_punctuation=True,
                password_length=_WORD_LENGTH,
            ),
        )
        accept(secret, _WORD_OPENS_LITTLE)
        return secret

    @property
    def word(self) -> str:
        """The current word, as a reference that CloudFormation resolves at deployment."""
        return _reference(self._words[-1], "word")

    @property
    def missing(self) -> dict[str, Any]:
        """The conditions of a request that has neither the word nor the previous one.

        According to docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/dynamic-references-secretsmanager.html,
        CloudFormation resolves references in all properties; in an SQS policy it didn't
        (github.com/aws-cloudformation/cloudformation-coverage-roadmap/issues/874), and here it wasn't seen. So the
        secret also contains the word "true", which every request over TLS meets: if nothing is resolved, this policy is
        invalid, which ends the deployment, or it refuses no request.
        """
        return {
            "StringNotEquals": {"aws:Referer": [_reference(each, "word") for each in self._words]},
            "Bool": {"aws:SecureTransport": _reference(self._words[-1], "closed")},
        }


def _reference(secret: secretsmanager.Secret, field: str) -> str:
    return secret.secret_value_from_json(field).unsafe_unwrap()


LOGGED = (
    *("date", "time", "x-edge-location", "x-edge-request-id", "c-ip", "cs-method", "cs-uri-stem", "sc-status"),
    *("sc-bytes", "cs-bytes", "time-taken", "time-to-first-byte", "x-edge-result-type", "ssl-protocol"),
)
"""The logged fields of a request: neither cookies nor query."""


def bucket_of_accesses(scope: Construct, stage: Stage) -> Bucket:
    """The bucket of a distribution's log, kept as long as the stage keeps logs. Only a delivery writes to it."""
    bucket = Bucket(scope, "Log", gone_after(stage.log_retention_days), stage=stage)
    source = f"arn:{Aws.PARTITION}:logs:{HOME}:{Aws.ACCOUNT_ID}:delivery-source:*"
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
    accept(bucket, _LOGS_OF_LOGS)
    return bucket


def log_accesses(scope: Construct, stage: Stage, distribution_arn: str, bucket: s3.IBucket) -> None:
    """Deliver a distribution's log to a bucket, which may be in another region."""
    delivery_source = logs.CfnDeliverySource(
        scope,
        "LogSource",
        name=f"{stage.stack_name}-access",
        log_type="ACCESS_LOGS",
        resource_arn=distribution_arn,
    )
    destination = logs.CfnDeliveryDestination(
        scope,
        "LogDestination",
        name=f"{stage.stack_name}-access",
        destination_resource_arn=bucket.bucket_arn,
        output_format="json",
    )
    delivery = logs.CfnDelivery(
        scope,
        "LogDelivery",
        delivery_source_name=delivery_source.name,
        delivery_destination_arn=destination.attr_arn,
        record_fields=list(LOGGED),
    )
    delivery.add_resource_dependency(delivery_source)
    if bucket.policy is not None:
        destination.node.add_dependency(bucket.policy)


class EdgeStack(Stack):
    """What CloudFront requires in us-east-1 of a stage that is elsewhere: the delivery of its log."""

    def __init__(self, app: App, *, stage: Stage, cdn: Cdn) -> None:
        super().__init__(
            app,
            f"{stage.stack_name}-edge",
            description=f"Big Time Deals ({stage.name}): CloudFront's log",
            env=Environment(account=stage.account, region=HOME),
            tags=dict(stage.tags) or None,
        )
        distribution = f"arn:{Aws.PARTITION}:cloudfront::{Aws.ACCOUNT_ID}:distribution/{cdn.distribution_id}"
        log_accesses(self, stage, distribution, s3.Bucket.from_bucket_name(self, "Log", str(cdn.log_bucket)))


ZONE = "Z2FDTNDATAQYW2"
"""The hosted zone of all distributions, for aliases of Route 53.
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-properties-route53-recordset-aliastarget.html"""

QUERY = ("cursor", "limit", "q", *SELECTING)
"""The query parameters of public API routes. Others are not in the cache key, which they can't split, nor forwarded."""

PAGE_QUERY = ("cursor", "q", "notice", *SELECTING)
"""The query parameters of the site's public pages: a list's page and selection, the search, and the last notice."""

FILES = ("/assets", *(str(each.pages) for each in FUNCTIONS if each.never_changes))
"""Prefixes of files whose names have their content's hash: cached as long as possible."""

_Query = cloudfront.CacheQueryStringBehavior

_PASSED_ON: dict[str, Any] = {
    "cache_policy": cloudfront.CachePolicy.CACHING_DISABLED,
    # Forwards Authorization and cookies, but not Host: the gateway knows only its own name.
    "origin_request_policy": cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
}

ERRORS = (400, 403, 404, 405, 414, 500, 501, 502, 503, 504)
"""Errors that CloudFront would keep for ten seconds, most of them even against their Cache-Control.
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/HTTPStatusCodes.html
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/custom-error-pages-expiration.html"""

CONTENT_POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'"
PAGE_CONTENT_POLICY = f"default-src 'none'; style-src {STYLE_SOURCE}; base-uri 'none'; frame-ancestors 'none'"
"""For answers without a content security policy: JSON, and the gateways' own answers. CloudFront leaves the policies of
``/v1/docs`` and of pages as they are."""


class Edge(Construct):
    """The distribution and its policies."""

    def __init__(
        self, scope: Construct, *, stage: Stage, cdn: Cdn, api: DealsApi, site: SiteApi, secret: OriginSecret
    ) -> None:
        super().__init__(scope, "Cdn")
        self._cdn = cdn
        self._secret = secret
        if stage.region is None:
            told = f"CloudFront's logs are set up in {HOME}: deploy the stage there, or give it a region in cdk.json."
            at_home = CfnRuleAssertion(assert_=Fn.condition_equals(Aws.REGION, HOME), assert_description=told)
            CfnRule(self, "Home", assertions=[at_home])
        arn = cdn.certificate_arn
        certificate = acm.Certificate.from_certificate_arn(self, "Certificate", arn) if arn else None
        public, others = self._of_site(stage, site)
        distribution = cloudfront.Distribution(
            self,
            "Distribution",
            comment=f"Big Time Deals ({stage.name})",
            # The first matching pattern decides.
            additional_behaviors={**self._of_api(stage, api), **others},
            default_behavior=public,
            http_version=cloudfront.HttpVersion.HTTP2_AND_3,
            minimum_protocol_version=cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
            price_class=cloudfront.PriceClass[cdn.price_class],
            geo_restriction=cloudfront.GeoRestriction.allowlist(*cdn.countries) if cdn.countries else None,
            web_acl_id=cdn.web_acl_arn,
            error_responses=[
                cloudfront.ErrorResponse(http_status=status, ttl=Duration.seconds(0)) for status in ERRORS
            ],
            domain_names=[cdn.domain_name] if cdn.domain_name else None,
            certificate=certificate,
        )
        # Edges send a new word only after the APIs accept it.
        for gateway in (api, site):
            distribution.node.add_dependency(gateway.stage)
        self._log(stage, cdn, distribution)
        accept(distribution, _LOGGED_BY_VERSION_2)
        if cdn.certificate_arn is None:
            accept(distribution, _CLOUDFRONTS_OWN_NAME)
        if not cdn.countries:
            accept(distribution, _FOR_ALL_COUNTRIES)
        if cdn.web_acl_arn is None:
            accept(distribution, _CLOUDFRONT_WITHOUT_FIREWALL)
        domain_name = distribution.distribution_domain_name
        self.origin = f"https://{cdn.domain_name or domain_name}"
        CfnOutput(Stack.of(self), "CdnUrl", value=f"{self.origin}{ROOT}/")
        CfnOutput(Stack.of(self), "CdnDomainName", value=domain_name)
        if cdn.domain_name and cdn.zone_id:
            to = {"target": domain_name, "target_zone_id": ZONE}
            alias(self, cdn.zone_id, cdn.domain_name, kinds=["A", "AAAA"], **to)

    def _log(self, stage: Stage, cdn: Cdn, distribution: cloudfront.Distribution) -> None:
        bucket = bucket_of_accesses(self, stage)
        if stage.region in (None, HOME):
            log_accesses(self, stage, distribution.distribution_arn, bucket)
            return
        stack, app = Stack.of(self), self.node.root
        CfnOutput(stack, "CdnDistributionId", value=distribution.distribution_id)
        CfnOutput(stack, "CdnLogBucket", value=bucket.bucket_name)
        if cdn.distribution_id is None:
            lacking = (
                "CloudFront's requests aren't logged yet: set its distribution_id and log_bucket to these outputs."
            )
            Annotations.of(self).add_warning_v2("no-edge-stack", lacking)
        elif isinstance(app, App):
            EdgeStack(app, stage=stage, cdn=cdn)

    def _of_api(self, stage: Stage, api: Gateway) -> dict[str, cloudfront.BehaviorOptions]:
        """The behaviours below the API's version: public GETs are cached, everything else is forwarded."""
        common: dict[str, Any] = {
            # No origin path: every path begins with the API's stage already.
            "origin": self._origin(api, None),
            "viewer_protocol_policy": cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
            # The API itself refuses methods that a path doesn't have.
            "allowed_methods": cloudfront.AllowedMethods.ALLOW_ALL,
            "response_headers_policy": self._headers(
                "Security",
                "For browsers: HTTPS only, no guessing of types, no frames",
                cloudfront.HeadersReferrerPolicy.NO_REFERRER,
                content=CONTENT_POLICY,
                override=True,
            ),
            "compress": True,
        }
        # Credentials are part of the key, so a request with credentials never gets a shared page. The origin marks its
        # answer private, which CloudFront doesn't store as long as the minimum TTL is zero:
        # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/Expiration.html
        # Answers differ by origin if other sites' pages may read them:
        # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/header-caching.html
        by_origin = ["Origin"] if stage.cors_origins else []
        key = self._cache_policy(
            "Pages",
            QUERY,
            comment="Public pages: path, limit, cursor, words, selection; "
            "requests with credentials apart from all others",
            max_ttl=Duration.hours(1),
            header_behavior=cloudfront.CacheHeaderBehavior.allow_list("Authorization", *by_origin),
            cookie_behavior=cloudfront.CacheCookieBehavior.all(),
        )
        # What the origin gets besides the key. Without Accept it sends its pages uncompressed. CloudFront compresses
        # them better, and this page names no price for it:
        # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/ServingCompressedFiles.html
        sent_on = cloudfront.OriginRequestPolicy(
            self,
            "PageRequests",
            comment="What writes to the path of a public page need",
            header_behavior=cloudfront.OriginRequestHeaderBehavior.allow_list("Content-Type", "Idempotency-Key"),
        )
        uncached = cloudfront.BehaviorOptions(**_PASSED_ON, **common)
        cached = cloudfront.BehaviorOptions(cache_policy=key, origin_request_policy=sent_on, **common)
        pages = _patterns(route for route in ROUTES if route.is_public_read)
        # Private paths that match a public pattern, because CloudFront's * matches slashes.
        within = [path for path in _patterns(ROUTES) if any(fnmatch.fnmatchcase(path, page) for page in pages)]
        private = [path for path in within if path not in pages]
        return dict.fromkeys(private, uncached) | dict.fromkeys(pages, cached) | {f"{ROOT}/*": uncached}

    def _of_site(
        self, stage: Stage, site: SiteApi
    ) -> tuple[cloudfront.BehaviorOptions, dict[str, cloudfront.BehaviorOptions]]:
        """The behaviours of public pages, of files (cached for a year), and of private pages (not cached).

        Public pages are the same for everyone, because neither cookies nor credentials are forwarded. The functions of
        private pages get all headers except Host: cookies, and Origin and Sec-Fetch-Site, by which they refuse other
        sites' forms. An address typed without https is redirected.
        """
        common: dict[str, Any] = {
            "viewer_protocol_policy": cloudfront.ViewerProtocolPolicy.REDIRECT_TO_HTTPS,
            "allowed_methods": cloudfront.AllowedMethods.ALLOW_ALL,
            # For the gateway's own answers: the functions' pages state all of it but HTTPS themselves. Not no-referrer,
            # with which browsers send forms with the Origin null.
            "response_headers_policy": self._headers(
                "PageSecurity",
                "For browsers: HTTPS only; what a page does not say itself",
                cloudfront.HeadersReferrerPolicy.STRICT_ORIGIN_WHEN_CROSS_ORIGIN,
                content=PAGE_CONTENT_POLICY,
                override=False,
            ),
            "compress": True,
        }
        origin = self._origin(site, f"/{SITE_STAGE}")
        key = self._cache_policy(
            "PublicPages",
            # A stage that shows its work, and has no readers, reads ``trace``, too: one more than a list may have.
            # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/cloudfront-limits.html
            () if stage.shows_work else PAGE_QUERY,
            comment="Pages of the site: path, cursor, search words and what is selected; no cookie and no header",
            max_ttl=Duration.days(1),
            header_behavior=cloudfront.CacheHeaderBehavior.none(),
            cookie_behavior=cloudfront.CacheCookieBehavior.none(),
        )
        public = cloudfront.BehaviorOptions(cache_policy=key, origin=origin, **common)
        own = cloudfront.BehaviorOptions(**_PASSED_ON, origin=origin, **common)
        # The gateway decodes a font's bytes only if Accept asks for them. A file is cached for a year for all readers
        # of an edge location, so a request without Accept must not decide what they get. An origin header replaces the
        # reader's:
        # https://docs.aws.amazon.com/apigateway/latest/developerguide/api-gateway-payload-encodings-workflow.html
        # https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/add-origin-custom-headers.html
        always_decoded = self._origin(site, f"/{SITE_STAGE}", Accept="*/*")
        files = cloudfront.BehaviorOptions(
            cache_policy=cloudfront.CachePolicy.CACHING_OPTIMIZED, origin=always_decoded, **common
        )
        # /my and everything below /my/ are pages; /mystery isn't.
        patterns = [pattern for prefix in site.private if prefix not in FILES for pattern in (prefix, f"{prefix}/*")]
        return public, {**{f"{prefix}/*": files for prefix in FILES}, **dict.fromkeys(patterns, own)}

    def _cache_policy(self, name: str, query: Sequence[str], **settings: Any) -> cloudfront.CachePolicy:
        """The cache key, with the named ``query`` parameters or, if none are named, all. An answer that doesn't say
        that it may be cached isn't."""
        return cloudfront.CachePolicy(
            self,
            name,
            min_ttl=Duration.seconds(0),
            default_ttl=Duration.seconds(0),
            query_string_behavior=_Query.allow_list(*query) if query else _Query.all(),
            enable_accept_encoding_gzip=True,
            enable_accept_encoding_brotli=True,
            **settings,
        )

    def _origin(self, gateway: Gateway, path: str | None, **headers: str) -> origins.HttpOrigin:
        return origins.HttpOrigin(
            f"{gateway.api.rest_api_id}.execute-api.{Aws.REGION}.{Aws.URL_SUFFIX}",
            origin_path=path,
            protocol_policy=cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
            origin_ssl_protocols=[cloudfront.OriginSslPolicy.TLS_V1_2],
            custom_headers={"Referer": self._secret.word, **headers},
        )

    def _headers(
        self, name: str, comment: str, referrer: cloudfront.HeadersReferrerPolicy, *, content: str, override: bool
    ) -> cloudfront.ResponseHeadersPolicy:
        """Headers for browsers. ``content`` is for answers without a policy of their own; with ``override``, the
        referrer policy replaces the origin's."""
        return cloudfront.ResponseHeadersPolicy(
            self,
            name,
            comment=comment,
            security_headers_behavior=cloudfront.ResponseSecurityHeadersBehavior(
                strict_transport_security=cloudfront.ResponseHeadersStrictTransportSecurity(
                    access_control_max_age=Duration.days(365),
                    include_subdomains=self._cdn.subdomains_too,
                    override=True,
                ),
                content_type_options=cloudfront.ResponseHeadersContentTypeOptions(override=True),
                frame_options=cloudfront.ResponseHeadersFrameOptions(
                    frame_option=cloudfront.HeadersFrameOption.DENY, override=True
                ),
                referrer_policy=cloudfront.ResponseHeadersReferrerPolicy(referrer_policy=referrer, override=override),
                content_security_policy=cloudfront.ResponseHeadersContentSecurityPolicy(
                    content_security_policy=content, override=False
                ),
            ),
        )


def _patterns(routes: Iterable[Route]) -> list[str]:
    """Distinct path patterns, the longer before the shorter."""
    found = {ROOT + re.sub(r"{\w+}", "*", route.path) for route in routes}
    return sorted(found, key=lambda pattern: (-len(pattern), pattern))
