"""Errors of the local cloud, each in one clear line."""

from __future__ import annotations


class Trouble(Exception):  # the user sees the text and need not know that it is an exception
    """Something that the user must do or know; its text is the line that they see."""
