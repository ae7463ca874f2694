"""Exports of the table's changes to S3 each night, for Athena."""

from __future__ import annotations

from shared.features import Feature

FEATURE = Feature(does="exports of what changes in the table to S3 each night, for Athena")
