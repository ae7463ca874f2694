"""The command line ``btd``: imports, accounts, and one command for each access pattern."""
