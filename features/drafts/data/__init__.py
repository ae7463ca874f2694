"""Drafts in the table."""
