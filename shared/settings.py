"""The numbers one may want to change, each with its reason."""

from __future__ import annotations

from datetime import timedelta

CACHE_SHARDS = 3
"""Copies of each cached page. A partition serves 3,000 RCU a second; at 0.5 a read, three serve 18,000 readers."""

CACHE_LIFETIME = timedelta(minutes=10)
"""Age at which a copy is no longer believed. Writes rebuild copies in seconds; this bounds what a lost one costs."""

COPIES_ARE_KEPT = timedelta(seconds=1)
"""How long a function shows a copy that it has read without reading it again: no reader notices, the table does."""

CACHED_PAGE = 25
"""Deals on a cached page: what a request without ``limit`` asks for."""

READ_FOR_CARDS = 60
"""Deals that a page of the site is made of: a shop posts a product in several colours, and they are one card."""

READERS_PER_COHORT = 250
"""Readers that are one unit of work: ten batches of 25, well within a second, and cheap to repeat after a failure."""

SCAN_SEGMENTS = 8
"""Parts in which all users are read at once for a hot deal: enough to keep the worker's ten instances busy."""

PARALLEL_BATCHES = 5
"""Batches of 25 messages a worker has under way: 125 writes, twice (table and GSI1), in each few milliseconds."""

NEWS_AGE = timedelta(minutes=15)
"""How old a deal may be, when it is created, to be news. Imports with older dates tell nobody."""

SAME_ANNOUNCEMENT = timedelta(hours=1)
"""How long after it was posted a deal may become hot and still be the announcement that its watchers have had."""

MARKER_LIFETIME = timedelta(days=21)
"""How long a cohort of readers is remembered: longer than a message can repeat it that was 14 days in a
dead-letter queue, and was then sent again to a queue that keeps it for four."""

MOST_PAGES = 20_000
"""Pages in one list of readers, five million of them: a fan-out longer than that feeds on itself, and is stopped."""

MESSAGE_LIFETIME = timedelta(days=90)
"""How long a message is kept, read or not: deals rarely last longer."""

SESSION_LIFETIME = timedelta(days=30)
"""How long one stays signed in. A session can be ended at any time, so this bounds only what is forgotten."""

SIGN_IN_WINDOW = timedelta(minutes=15)
"""The window in which sign-in attempts are counted; also the longest wait of somebody who made too many."""

SIGN_INS_PER_USER = 10
"""Failed attempts for one user from one network in a window: a thousand a day, against passwords of ten characters."""

SIGN_INS_FROM_ANYWHERE = 100
"""Failed attempts for one user in a window, from all networks: ten strangers do not lock an owner out, and a botnet has
ten thousand guesses a day for all its networks."""

SESSIONS_PER_USER = 100
"""Sign-ins of one user that succeed in a window: each makes an item that is kept for a month."""

SIGN_UPS_PER_ADDRESS = 1_000
"""Accounts that one network makes in a window: a school's lesson, not a machine that asks who has one."""

TAKEN_PER_ADDRESS = 50
"""Usernames and email addresses that one network finds taken in a window."""

MOVES_PER_USER = 10
"""Changes of one account's email address in a window: each tells whether another account has it."""

RECENT_SIGN_IN = timedelta(minutes=10)
"""How old a session may be that removes its account: a stolen one is older, mostly."""

SIGN_INS_PER_ADDRESS = 50
"""Failed attempts from one address in a window: an office shares one, a guesser of many users' passwords too."""

CART_LIFETIME = timedelta(days=30)
"""How long something stays in a cart that nobody touches."""

LOW_STOCK = 5
"""Pieces left at which a deal says that they are few."""
