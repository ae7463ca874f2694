"""AWS's list prices in US dollars, of us-east-1. Whatever states or computes a price reads it here.

Each price names the page that states it. ``AS_OF`` is the day on which they were last looked up. The pages fill their
tables in by script, so that was done in copies of them and of AWS's price lists; nobody has compared them with a bill.
The copies of SQS's, WAF's and EC2's pages have no numbers. Theirs are from AWS's price lists as others quote them in
2026, with the offer and the type of usage: AWSQueueService (Requests-Tier1), awswaf (USE1-WebACLV2, USE1-RuleV2 and
USE1-RequestV2-Tier1) and AWSDataTransfer (DataTransfer-Out-Bytes, "beyond the global free tier"). Each list is at
https://pricing.us-east-1.amazonaws.com/offers/v1.0/aws/OFFER/current/us-east-1/index.json.
"""

from __future__ import annotations

from typing import NamedTuple

AS_OF = "27 November 2026"

MILLION = 1_000_000


class Price(NamedTuple):
    """A price in ``dollars`` for ``per`` of something (a ``unit`` in words), and the page that states it.

    ``free`` of it cost nothing in each month, in every account and for as long as it exists.
    """

    what: str
    dollars: float
    per: float
    unit: str
    page: str
    free: float = 0

    @property
    def each(self) -> float:
        """Dollars for one."""
        return self.dollars / self.per


class Plan(NamedTuple):
    """A flat-rate plan of CloudFront: dollars a month for one distribution, its allowance, and what it may have."""

    name: str
    dollars: float
    requests: int
    gigabytes: int
    behaviours: int
    own_policies: bool
    """Whether the distribution may have cache policies of its own."""


AWS = "aws.amazon.com"
GATEWAY = Price("API Gateway, REST request", 3.50, MILLION, "million", f"{AWS}/api-gateway/pricing")
HTTP_GATEWAY = Price("API Gateway, HTTP API request", 1.00, MILLION, "million", f"{AWS}/api-gateway/pricing")
INVOCATION = Price("Lambda, request", 0.20, MILLION, "million", f"{AWS}/lambda/pricing", MILLION)
COMPUTING = Price("Lambda, arm64", 0.0000133334, 1, "GB-second", f"{AWS}/lambda/pricing", 400_000)
READ = Price("DynamoDB, read request unit", 0.125, MILLION, "million", f"{AWS}/dynamodb/pricing/on-demand")
WRITE = Price("DynamoDB, write request unit", 0.625, MILLION, "million", f"{AWS}/dynamodb/pricing/on-demand")
PROVISIONED_READ = Price("DynamoDB, read capacity unit", 0.00013, 3600, "hour", f"{AWS}/dynamodb/pricing/provisioned")
PROVISIONED_WRITE = Price("DynamoDB, write capacity unit", 0.00065, 3600, "hour", f"{AWS}/dynamodb/pricing/provisioned")
"""A capacity unit serves one unit each second: 3,600 in the hour that it is paid for."""

STORAGE = Price("DynamoDB, storage", 0.25, 1, "GB-month", f"{AWS}/dynamodb/pricing/on-demand", 25)
RECOVERY = Price("DynamoDB, point-in-time recovery", 0.20, 1, "GB-month", f"{AWS}/dynamodb/pricing/on-demand")
QUEUEING = Price("SQS, standard request", 0.40, MILLION, "million", f"{AWS}/sqs/pricing", MILLION)
MAIL = Price("SES, mail, by the plan Essentials of new accounts", 0.16, 1000, "1,000", f"{AWS}/ses/pricing")
MAIL_WITHOUT_PLAN = Price("SES, mail, without a plan", 0.10, 1000, "1,000", f"{AWS}/ses/pricing")
LOGGING = Price("CloudWatch Logs, ingestion", 0.50, 1, "GB", f"{AWS}/cloudwatch/pricing", 5)
ALARM = Price("CloudWatch, metric of an alarm", 0.10, 1, "month", f"{AWS}/cloudwatch/pricing", 10)
DASHBOARD = Price("CloudWatch, dashboard", 3.00, 1, "month", f"{AWS}/cloudwatch/pricing", 3)
METRIC = Price("CloudWatch, custom metric", 0.30, 1, "month", f"{AWS}/cloudwatch/pricing", 10)
SECRET = Price("Secrets Manager, secret", 0.40, 1, "month", f"{AWS}/secrets-manager/pricing")
WEB_ACL = Price("WAF, web ACL", 5.00, 1, "month", f"{AWS}/waf/pricing")
WAF_RULE = Price("WAF, rule", 1.00, 1, "month", f"{AWS}/waf/pricing")
WAF_REQUEST = Price("WAF, request", 0.60, MILLION, "million", f"{AWS}/waf/pricing")
EGRESS = Price("Data from a region to the internet", 0.09, 1, "GB", f"{AWS}/ec2/pricing/on-demand", 100)
EDGE_REQUEST = Price(
    "CloudFront, HTTPS request, US", 0.0100, 10_000, "10,000", f"{AWS}/cloudfront/pricing", 10 * MILLION
)
EDGE_EGRESS = Price("CloudFront, data to viewers, US and Europe", 0.085, 1, "GB", f"{AWS}/cloudfront/pricing", 1000)
PRICES = (
    *(GATEWAY, HTTP_GATEWAY, INVOCATION, COMPUTING, READ, WRITE),
    *(PROVISIONED_READ, PROVISIONED_WRITE, STORAGE, RECOVERY, QUEUEING, MAIL, MAIL_WITHOUT_PLAN, LOGGING),
    *(ALARM, DASHBOARD, METRIC, SECRET, WEB_ACL, WAF_RULE, WAF_REQUEST, EGRESS, EDGE_REQUEST, EDGE_EGRESS),
)

PLANS = (
    Plan("Free", 0, MILLION, 100, behaviours=5, own_policies=False),
    Plan("Pro", 15, 10 * MILLION, 50_000, behaviours=10, own_policies=False),
    Plan("Business", 200, 125 * MILLION, 50_000, behaviours=50, own_policies=True),
    Plan("Premium", 1_000, 500 * MILLION, 50_000, behaviours=100, own_policies=True),
)
"""The price of each has the firewall, its requests and CloudFront's logs in it, and none bills what exceeds it.
https://docs.aws.amazon.com/AmazonCloudFront/latest/DeveloperGuide/flat-rate-pricing-plan.html"""
