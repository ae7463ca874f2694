"""Clicks: how often readers follow deals to their shops."""
