"""The links to the core's pages, and what is true of their paths: as a feature's ``navigation.py`` says it."""

from __future__ import annotations

TABS = {
    "lists": (("/deals", "Latest"),),
    "sections": (("/ending", "Ending"),),
    "choice": (("/editors-choice", "Editors’ choice"),),  # noqa: RUF001  # as it is printed
    "editors": (),
    "mine": (("/my/inbox", "Inbox"), ("/my/watches", "Watches")),
    "account": (("/account", "Account"),),
}

PASSWORD_PATHS = ("/users", "/sessions")

PRIVATE_PATHS = ("/my/", "/account")
