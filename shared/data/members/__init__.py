"""Members: accounts, sessions, what they follow, and their messages."""
