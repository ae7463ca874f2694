"""What can go wrong, in one clear line."""

from __future__ import annotations


class Trouble(Exception):  # it is told to the user, who need not know that it is an exception
    """Something the user must do or know; its text is the line they see."""
