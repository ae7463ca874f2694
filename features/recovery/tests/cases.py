"""Backups in tests of all features."""

from __future__ import annotations

from features.recovery.rights import Recovery

NOT_TYPED = {
    "aws backup ": "MiniStack restores no backup",
    "aws dynamodb update-table --region ": "MiniStack has no replicas",
    "aws dynamodb describe-table --region ": "the same",
    "aws dynamodb update-continuous-backups --region ": "the same",
}

OPTIONS = (Recovery(copy_to="arn:aws:backup:eu-west-1:444455556666:backup-vault:copies"),)
