"""Readers: accounts, sessions, what they follow, and the messages they get."""
