"""Exports of the table's changes to S3 each night, for Athena."""

DOES = "exports of what changes in the table to S3 each night, for Athena"
NEEDS = ()
