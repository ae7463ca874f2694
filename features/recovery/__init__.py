"""Nightly backups of the table, copies of them elsewhere, and a monthly restore that AWS Backup tries."""

DOES = "nightly backups of the table, copies of them elsewhere, and a monthly restore that AWS Backup tries"
NEEDS = ()
