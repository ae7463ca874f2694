"""CloudFront in front of both APIs, which it may close to all others."""

DOES = "CloudFront in front of both APIs, which it may close to all others"
NEEDS = ()
