"""The HTTP edge: what every Lambda handler behind the REST API shares."""
