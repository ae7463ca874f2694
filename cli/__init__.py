"""The command line ``btd``: imports, accounts, and one command for each access pattern."""

INTERRUPTED = 130
"""The exit code of what SIGINT ended: 128 and the signal's number, as a shell counts it."""
