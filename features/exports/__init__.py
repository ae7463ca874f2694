"""Exports of the table's changes to S3 each night, for Athena."""
