"""The functions behind the REST API, grouped by who may call what."""
