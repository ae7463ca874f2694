"""Processes of their own for untrusted bytes: how they are started, and what they can't do."""
