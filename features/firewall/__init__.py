"""AWS WAF in front of both APIs, on stages that have the setting."""

DOES = "AWS WAF in front of both APIs, on stages that have the setting"
NEEDS = ()
