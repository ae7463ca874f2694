"""Drafts: deals that an editor has begun, to post later or at a time."""
