"""Backups in tests of all features."""

from __future__ import annotations

from features.recovery.rights import Recovery

OPTIONS = (Recovery(copy_to="arn:aws:backup:eu-west-1:444455556666:backup-vault:copies"),)
