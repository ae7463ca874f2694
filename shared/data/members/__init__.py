"""Who reads: accounts, sessions, what they follow, and what they are told."""
