"""AWS WAF in front of both APIs, on stages that have the setting."""
