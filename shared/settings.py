"""Numbers that you may want to change, each with its reason."""

from __future__ import annotations

from datetime import timedelta

CACHE_SHARDS = 3
"""Copies of each cached page. A partition serves 3,000 RCU a second; at 0.5 a read, three serve 18,000 readers."""

CACHE_LIFETIME = timedelta(minutes=10)
"""Age at which a copy is no longer used. Writes rebuild copies in seconds; this bounds the harm of a lost rebuild."""

COPIES_ARE_KEPT = timedelta(seconds=1)
"""How long a function shows a copy before it reads it again: no reader notices, and the table has far fewer reads."""

CACHED_PAGE = 25
"""Deals on a cached page: what a request without ``limit`` asks for."""

READ_FOR_CARDS = 60
"""Deals that a page of the site is made of: a shop posts a product in several colours, and they are one card."""

CARDS_OF_A_SEARCH = 24
"""Cards of a page of a search, each for deals of one product at one price: whole rows of six, four, three or two."""

CURRENCIES = ("USD", "EUR", "GBP", "JPY")
"""The currencies whose prices readers are led to. The first is that of a deal without one, and of a list by
price for which none is asked."""

READERS_PER_COHORT = 250
"""Readers that are one unit of work: ten batches of 25, well within a second, and cheap to repeat after a failure."""

SCAN_SEGMENTS = 8
"""Parts in which all users are read at once for a hot deal: enough to keep ten messengers busy."""

PARALLEL_BATCHES = 5
"""Batches of 25 messages a worker has under way: 125 writes, twice (table and GSI1), in each few milliseconds."""

NEWS_AGE = timedelta(minutes=15)
"""How old a deal may be, when it is created, to be news. Older deals of an import notify no reader."""

SAME_ANNOUNCEMENT = timedelta(hours=1)
"""A deal that becomes hot within this time of its posting is not announced again."""

MARKER_LIFETIME = timedelta(days=21)
"""How long a cohort of readers is remembered: longer than its message can come again, after 14 days in a dead-letter
queue and four more in the queue that it was sent to again."""

MOST_COHORTS = 100_000
"""Cohorts in one list of readers, which are 25 million readers: five times the longest list that is expected. A longer
fan-out is an endless loop, and is stopped."""

MESSAGE_LIFETIME = timedelta(days=90)
"""How long a message is kept, read or not: deals rarely last longer."""

TOLD_DAILY_AT = 7
"""The hour, in UTC, at which a day's news is shown to those who want it once a day."""

SESSION_LIFETIME = timedelta(days=30)
"""How long a user stays signed in. A session can be ended at any time, so this only bounds forgotten ones."""

SESSION_IDLE = timedelta(days=14)
"""How long a session lasts without use."""

SESSION_NOTED = timedelta(hours=1)
"""How old the note of a session's last use may be: each is a write, of the session and of its place in GSI1."""

SESSIONS_SHOWN = 50
"""A user's newest sessions, which are listed: a page of a Query."""

SIGN_IN_WINDOW = timedelta(minutes=15)
"""The window in which sign-in attempts are counted; also the longest wait after too many."""

SIGN_INS_PER_USER = 10
"""Failed attempts for one user from one network in a window: a thousand a day, against passwords of ten characters."""

SIGN_INS_FROM_ANYWHERE = 100
"""Failed attempts for one user in a window, from all networks that have not signed in before: ten strangers do not lock
an owner out, and a botnet has ten thousand guesses a day for all its networks."""

IPV6_WIDTHS = {64: 1, 56: 2, 48: 4}
"""The IPv6 networks that attempts are counted by, and how many times the bound of one network each has: a customer gets
a /64, a /56 or a /48 (https://www.rfc-editor.org/rfc/rfc6177)."""

NETWORK_REMEMBERED = timedelta(days=90)
"""How long after a sign-in from a network it is not refused for what others guess."""

SESSIONS_PER_USER = 100
"""Sign-ins of one user that succeed in a window: each makes an item that is kept for a month."""

SIGN_UPS_PER_NETWORK = 1_000
"""Accounts that one network makes in a window: enough for a school's lesson, too few to test who has an account."""

TAKEN_PER_NETWORK = 50
"""Usernames and email addresses that one network finds taken in a window."""

MOVES_PER_USER = 10
"""Changes of one account's email address in a window: each shows whether another account has it."""

RECENT_SIGN_IN = timedelta(minutes=10)
"""How old a session may be to remove its account: a stolen one is usually older."""

SIGN_INS_PER_NETWORK = 50
"""Failed attempts from one address in a window: an office shares one, a guesser of many users' passwords too."""

LOG_LIFETIME = timedelta(days=365)
"""How long a deal's log says who changed it: long enough for questions, and not for ever, because it names people."""

UNREAD_SHOWN = 99
"""Unread messages that a page counts and reads; beyond, it says "99+"."""
