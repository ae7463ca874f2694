"""The rows of the core's functions, and of its API routes: as a feature's ``rights.py`` has them.

To add a function, write a row here, its access in ``infra/rights.py``, and its module in ``functions/``. Paths are the
OpenAPI document's, below the stage ``v1``; a test compares them with the functions'.
"""

from __future__ import annotations

from infra import rights
from infra.rows import FULL, Caller, Function, Reading, typed
from shared import features, hooks
from shared.data import keys

SHOWN = typed(
    "NewImage",
    keys.DEAL,
    *(kind for each in features.roles(hooks.Items) for kind in each.REFRESHES),
    *keys.CURATED,
    keys.CATEGORY_FEATURED,
)
DEALS = typed("NewImage", keys.DEAL)
ACCOUNTS = typed("NewImage", keys.USER, keys.REMOVAL)
REMOVED_DEALS = typed("OldImage", keys.DEAL)
"""A removal has the old image only. A change has it too, and is let through by its new image anyway. Lambda lets a
filter name no other field of a record than ``dynamodb``, so none names the event.
https://docs.aws.amazon.com/lambda/latest/dg/with-ddb-filtering.html"""


FUNCTIONS = (
    Function(name="catalog", access=rights.CATALOG),
    Function(name="authorizer", access=rights.AUTHORIZER),
    Function(
        name="accounts",
        access=rights.ACCOUNTS,
        artifact=FULL,
        memory=1769,
        because="Hashing a password takes a whole processor and argon2's 64 MiB.",
        traced=True,
    ),
    Function(name="members", access=rights.MEMBERS, traced=True),
    Function(name="editors", access=rights.EDITORS, artifact=FULL, traced=True),
    Function(name="site", access=rights.SITE, pages=""),
    Function(name="mine", access=rights.MINE, pages="/my", traced=True),
    Function(
        name="account",
        access=rights.ACCOUNT,
        artifact=FULL,
        memory=1769,
        because="Hashing a password takes a whole processor and argon2's 64 MiB.",
        pages="/account",
        takes_passwords=True,
        traced=True,
    ),
    Function(
        name="publisher",
        access=rights.PUBLISHER,
        caller=Caller.EVENTS,
        timeout=60,
        because="Each of a hundred deals is announced and has 24 words, while table and queue refuse for moments.",
        reads=Reading(name="Published", dead_letters="deals", filters=(DEALS, REMOVED_DEALS), batch_size=100),
        sends=True,
        traced=True,
    ),
    Function(
        name="messenger",
        access=rights.MESSENGER,
        caller=Caller.EVENTS,
        timeout=60,
        because="Five cohorts of 250 readers, while the table refuses for moments.",
        sends=True,
        calls_itself=True,
        traced=True,
    ),
    Function(
        name="refresher",
        access=rights.REFRESHER,
        caller=Caller.EVENTS,
        timeout=60,
        because="It may build every cached page at once, each from several reads.",
        # A window of one second makes one rebuild of a burst of deals.
        reads=Reading(
            name="Refreshed",
            dead_letters="refreshes",
            filters=(SHOWN, REMOVED_DEALS, ACCOUNTS),
            batch_size=500,
            window=1,
        ),
        each_minute=True,
        traced=True,
    ),
    Function(
        name="expiry",
        access=rights.EXPIRY,
        caller=Caller.EVENTS,
        timeout=50,
        because="The clock invokes it each minute, and a sweep must be over before the next one.",
        each_minute=True,
    ),
    Function(
        name="remover",
        access=rights.REMOVER,
        caller=Caller.EVENTS,
        timeout=50,
        because="It removes what thousands of orders and messages leave, and goes on in the next minute.",
        each_minute=True,
    ),
    Function(
        name="seed",
        access=rights.SEED,
        caller=Caller.DEPLOYMENT,
        timeout=30,
        because="A deployment waits for it: the first writes to a new table may be refused for moments.",
    ),
)

ROUTES = (
    (
        "catalog",
        "anyone",
        "GET /front-page",
        "GET /editors-choice",
        "GET /deals",
        "GET /deals/{dealId}",
        "GET /brands",
        "GET /brands/{brand}",
        "GET /brands/{brand}/deals",
        "GET /categories",
        "GET /categories/{category}",
        "GET /categories/{category}/deals",
        "GET /openapi.json",
        "GET /docs",
    ),
    (
        "accounts",
        "anyone",
        "POST /users",
        "POST /sessions",
    ),
    (
        "accounts",
        "signed in",
        "GET,DELETE /sessions",
        "DELETE /sessions/current",
        "DELETE /sessions/{sessionId}",
        "GET,PATCH,DELETE /me",
    ),
    (
        "members",
        "signed in",
        "GET /me/watches",
        "GET,POST /me/alerts",
        "PUT /me/alerts/deals/{dealId}",
        "DELETE /me/alerts/{alertId}",
        "PUT,DELETE /brands/{brand}/like",
        "PUT,DELETE /brands/{brand}/watch",
        "PUT,DELETE /categories/{category}/like",
        "PUT,DELETE /categories/{category}/watch",
        "GET /messages",
        "GET /messages/unread-count",
        "PUT /messages/{messageId}/read",
        "POST /messages/read-all",
    ),
    (
        "editors",
        "signed in",
        "POST /deals",
        "PATCH /deals/{dealId}",
        "GET,PUT /deals/{dealId}/hot",
        "GET /deals/{dealId}/log",
        "POST /brands",
        "PUT /front-page/featured",
        "PUT /editors-choice/featured",
        "PUT /categories/{category}/featured",
    ),
)
