"""The features that a copy of this project can do without (``make fork``): a record each, and the list of them.

The rest names no feature: it asks ``of`` for what the records have in some place, and loops over that. A record is
data. It says ``module:name`` where it means an object, so that a function imports only what it uses.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from importlib import import_module
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Notifications about a thing of a feature, such as an ``order``: their kinds, the page of one, and the reason that
    they give."""

    thing: str
    kinds: tuple[str, ...]
    page: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What one feature adds, and which files are its own. Places that are empty add nothing."""

    name: str

    does: str
    """What a copy without it lacks."""

    owns: str
    """Patterns of its own files, from the project's folder, with spaces between them. A folder is owned with all that
    is in it; a section of a document is named by its anchor (``docs/site.md#pictures``)."""

    needs: tuple[str, ...] = ()
    """The features that it cannot do without."""

    routes: tuple[str, ...] = ()
    """What the paths of its pages and routes begin with: lists in tests lose such entries with it."""

    named: tuple[str, ...] = ()
    """Other names of its own, such as those of functions: the same."""

    # The stack.

    functions: str = ""
    """Rows of Lambda functions (``infra/functions.py``)."""

    more_rights: str = ""
    """What other functions may do for it, by their names."""

    rights: str = ""
    """Returns further rights of any function, on a stage that shows its work."""

    resources: str = ""
    """Is called with the stack, and what it is made of (``infra/site.py``), to add resources."""

    options: str = ""
    """Settings of stages, by the stages' names (``infra/rows``)."""

    queues: Mapping[str, str] = field(default_factory=dict)
    """Names of queues of work, each with the stack's output of its address."""

    api_routes: str = ""
    """What the gateway leads to functions (``infra/functions.py``)."""

    password_paths: tuple[str, ...] = ()
    """Routes of the API that are throttled as signing in is."""

    metrics: str = ""
    """The module of its metrics."""

    essential_metrics: tuple[str, ...] = ()
    """The metrics that are paid for where only the essential is watched."""

    delivery_metrics: str = ""
    """Metrics that the dashboard shows beside the messages delivered."""

    # The table.

    entities: str = ""
    """Rows of types of items, by what they belong to (``shared/data/entities.py``)."""

    user_places: str = ""
    """Places of users in indexes."""

    user_hides: str = ""
    """Hidden attributes of users, with the reasons."""

    notes: str = ""
    """Which partition a note is about, by the types of notes."""

    invariants: str = ""
    """Makes what holds its items against each other (``shared/data/invariants.py``)."""

    removals: str = ""
    """What takes an account's items from it (``shared/data/removal.py``)."""

    holds_accounts: Mapping[str, str] = field(default_factory=dict)
    """Counts of an account that must be 0 before it is removed, each with the error that says so."""

    rewrites: str = ""
    """Rewrites for ``btd backfill``."""

    refreshes: Mapping[str, str] = field(default_factory=dict)
    """Types of items whose records the refresher reads, each with its word."""

    # Accounts.

    in_account: str = ""
    """A model of what an account's item says for it, which ``User.more`` has."""

    on_account: str = ""
    """Is called with what happened to an account (``made``, ``email``, ``password``), before and after."""

    changes_account: str = ""
    """Is called with an account and the body that changes it."""

    account_page: str = ""
    """Returns values for the page of an account."""

    # The API.

    api: str = ""
    """The app whose routes its commands ask."""

    answers: str = ""
    """Models of what its routes answer."""

    answer_fields: str = ""
    """Fields that other answers have."""

    of_account: str = ""
    """Fields that the answer about an account has."""

    body_fields: str = ""
    """Fields that bodies of others have, by the models' names."""

    openapi: str = ""
    """Additions to the OpenAPI document."""

    # The functions and their pages.

    joins: Mapping[str, str] = field(default_factory=dict)
    """What the module of a function adds, by the function's name: routes, pages, or a task (``joining``)."""

    wraps: str = ""
    """Makes a function's handler one that says in headers what it took, on stages that show their work."""

    panel: str = ""
    """The module that says what a page took and what its form did, on stages that show their work."""

    in_pages: str = ""
    """A template that each page includes several times; ``on_page`` says where on the page it is then."""

    tabs: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Links in rows of links: ``sections`` of the site, the ``desk``, and ``mine``, a member's own pages."""

    head_counts: Mapping[str, str] = field(default_factory=dict)
    """What is counted for the header of a member's pages."""

    news: tuple[News, ...] = ()
    """Notifications about other things than deals."""

    collections: str = ""
    """Partitions to begin with in the table's browser."""

    patterns: str = ""
    """The file of its access patterns, from ``shared/`` (``shared/html/patterns.toml`` has those of the core)."""

    explains: str = ""
    """The beginning of the paths of pages about access patterns; a pattern's number follows."""

    signed_paths: tuple[str, ...] = ()
    """Paths of pages whose links are signed, so that a form may come from anywhere."""

    private: tuple[str, ...] = ()
    """Beginnings of paths that crawlers leave out."""

    # Commands.

    command_groups: str = ""
    """Groups of commands of ``btd``."""

    commands: str = ""
    """Commands of ``btd``."""

    subcommands: str = ""
    """Functions to add to groups of ``btd``, by the groups' names."""

    described: str = ""
    """The models that ``btd export`` takes columns of, and other attributes, by types of items."""

    queries: str = ""
    """Examples of what to ask the file of ``btd export``, and Athena."""

    redriven: str = ""
    """The kinds of work that ``btd redrive`` reads from dead-letter queues."""

    sends_picture: str = ""
    """Makes a file a deal's picture, for ``btd deals edit``."""

    proofs: str = ""
    """Proofs of ``btd probe`` by their names (``cli/proofs``)."""

    # The laptop, the demo, the documents and the benchmarks.

    links: tuple[tuple[str, str, str], ...] = ()
    """Addresses that ``make run`` prints, each as a name, a path and a remark."""

    local_pages: Mapping[str, str] = field(default_factory=dict)
    """Functions that answer paths on the laptop alone, by what the paths begin with."""

    sample: str = ""
    """Adds to the sample of a new local cloud."""

    standards: str = ""
    """Gives files of data that are made from maintained libraries, and what they hold (``tools/standards.py``)."""

    workbench: str = ""
    """Adds to the model for NoSQL Workbench."""

    paths: tuple[str, ...] = ()
    """Some of its pages: the demo packs what they need."""

    shows_code: str = ""
    """Gives the paths of files whose text its pages show: the demo packs them, too."""

    reaches_files: tuple[str, ...] = ()
    """Functions that connect to a bucket: the demo gives them files of its own."""

    in_demo: Mapping[str, str] = field(default_factory=dict)
    """What the demo calls with DynamoDB's client before it first invokes a function, by the function's name."""

    documents: str = ""
    """Writes pages of the documents' site, each as a path and a text."""

    benchmarks: Mapping[str, str] = field(default_factory=dict)
    """Modules that ``python -m benchmarks`` runs, by the benchmarks' names."""


WORKINGS = Feature(
    name="workings",
    does="the panel that shows a page's requests and a form's writes, and the table's browser",
    owns="""
        functions/cost_headers.py functions/pages/collections.py infra/rows/workings.py shared/data/traces.py
        shared/data/workings.py shared/dynamodb/faults.py shared/html/drawings.py shared/html/form_cost.py
        shared/html/page_cost.py tests/signed_in/test_table.py tests/signed_in/test_traces.py web/assets/page-cost.css
        web/assets/page-cost.js web/assets/table.css web/templates/collections web/templates/fault.html
        web/templates/form-cost.html web/templates/page-cost.html
    """,
    routes=("/table",),
    named=("collections",),
    functions="infra.rows.workings:FUNCTIONS",
    rights="infra.rows.workings:rights",
    entities="shared.data.traces:ENTITIES",
    in_pages="collections/in-pages.html",
    panel="shared.html.form_cost:",
    wraps="functions.cost_headers:with_cost",
    paths=("/table",),
)

TEXTBOOK = Feature(
    name="textbook",
    does="lessons about single-table design, whose requests visitors send and change",
    needs=("shop", "workings"),
    owns="""
        functions/pages/learn.py infra/rows/textbook.py infra/textbook.py shared/learn tests/learn
        tests/site/test_learn.py tools/textbook.py web/assets/learn.css web/templates/learn
        CONTRIBUTING.md#write-a-lesson-or-an-exercise docs/ledger.md#items-and-expressions
        docs/ledger.md#kinds-of-indexes docs/ledger.md#news-of-two-years docs/ledger.md#partitions-and-consistency
        docs/ledger.md#what-the-textbook-leaves-out docs/site.md#the-textbook-that-runs
    """,
    routes=("/learn",),
    named=("learn",),
    functions="infra.rows.textbook:FUNCTIONS",
    resources="infra.textbook:add",
    in_pages="learn/in-pages.html",
    explains="/learn/pattern-",
    documents="tools.textbook:documents",
    links=(("Learn", "learn", "the textbook that runs"),),
    paths=("/learn", "/learn/item-collection"),
    shows_code="shared.learn.lessons:shown",
    in_demo={"learn": "shared.learn.lessons:add_table"},
)

FIREWALL = Feature(
    name="firewall",
    does="AWS WAF in front of both APIs, on stages that have the setting",
    owns="infra/firewall.py infra/rows/firewall.py tests/infra/test_firewall.py docs/ledger.md#firewall",
    resources="infra.firewall:add",
)

EXPORTS = Feature(
    name="exports",
    does="exports of what changes in the table to S3 each night, for Athena",
    owns="""
        cli/proofs/exports.py infra/exports.py infra/rows/exports.py tests/infra/test_exports.py
        docs/deploying.md#exports-for-analysis docs/ledger.md#lines-of-an-export docs/ledger.md#nightly-export
        docs/runbook.md#export-is-missing
    """,
    named=("export_is_missing", "nightly-export", "aws stepfunctions start-execution "),
    resources="infra.exports:add",
    proofs="cli.proofs.exports:PROOFS",
)

CDN = Feature(
    name="cdn",
    does="CloudFront in front of both APIs, which it may close to all others",
    owns="""
        cli/proofs/cdn.py infra/cdn.py infra/rows/cdn.py tests/functions/test_behind_cloudfront.py
        tests/infra/test_cdn.py tests/support/edge.py docs/deploying.md#cloudfront docs/ledger.md#keys-of-cloudfront
        docs/ledger.md#names-and-logs-of-cloudfront docs/ledger.md#referer-in-an-api-policy
        docs/ledger.md#secret-in-an-api-policy
    """,
    resources="infra.cdn:add",
    proofs="cli.proofs.cdn:PROOFS",
)

SHOP = Feature(
    name="shop",
    does="carts, orders and stock of the deals that the site sells itself",
    owns="""
        benchmarks/rush.py cli/shop.py functions/api/orders.py functions/api/sold_here.py
        functions/background/shop_upkeep.py functions/pages/sales.py functions/pages/shop.py
        functions/pages/sold_here.py infra/rows/shop.py local/sample/stock.py shared/api/countries.json
        shared/api/orders.py shared/api/shop_schemas.py shared/data/orders shared/html/orders.py shared/models/orders.py
        shared/runtime/shop_metrics.py tests/data/orders tests/functions/test_orders.py tests/signed_in/test_sales.py
        tests/signed_in/test_shop.py tests/support/shop.py tools/shop.py web/assets/shop.css web/templates/shop
        docs/data-model.md#the-shop docs/data-model.md#what-is-sold-here docs/data-model.md#how-many-orders-a-second
        docs/runbook.md#orders-are-stuck docs/runbook.md#stock-that-does-not-add-up
    """,
    routes=("/shop", "/desk/shop", "/sold-here", "/orders", "/me/cart", "/me/addresses", "/open-orders", "/customers"),
    named=(
        *("orders", "shop", "sales", "cart", "data.orders", "Deals sold here"),
        *("btd addresses", "btd cart", "btd orders", "btd stock", "btd rush"),
    ),
    functions="infra.rows.shop:FUNCTIONS",
    more_rights="infra.rows.shop:MORE",
    resources="infra.rows.shop:add",
    metrics="shared.runtime.shop_metrics:",
    essential_metrics=("OldestOpenOrder",),
    command_groups="cli.shop:GROUPS",
    commands="cli.shop:COMMANDS",
    entities="shared.data.orders.entities:ENTITIES",
    user_hides="shared.data.orders.entities:USER_HIDES",
    notes="shared.data.orders.keys:NOTES",
    invariants="shared.data.orders.invariants:Sales",
    holds_accounts={"OpenOrders": "shared.data.orders.errors:OrdersRemain"},
    removals="shared.data.orders.steps:REMOVED",
    refreshes={"Stock": "stock"},
    rewrites="cli.shop:REWRITES",
    news=(
        News(
            thing="order",
            kinds=("placed", "sent", "delivered", "cancelled", "corrected"),
            page="/shop/orders",
            why="Your order",
        ),
    ),
    collections="shared.data.orders.keys:COLLECTIONS",
    patterns="data/orders/patterns.toml",
    standards="tools.shop:written",
    head_counts={"cart": "shared.data.orders.carts:pieces"},
    api="functions.api.orders:app",
    api_routes="infra.rows.shop:ROUTES",
    answers="shared.api.shop_schemas:ANSWERS",
    answer_fields="shared.api.orders:ADDED",
    of_account="shared.api.orders:of_account",
    openapi="shared.api.shop_schemas:OPENAPI",
    in_pages="shop/in-pages.html",
    tabs={
        "sections": (("/sold-here", "Sold here"),),
        "desk": (("/desk/shop/orders", "Orders"),),
        "mine": (("/shop/cart", "Cart"), ("/shop/orders", "Orders"), ("/shop/addresses", "Addresses")),
    },
    private=("/shop/",),
    joins={
        "catalog": "functions.api.sold_here:add",
        "site": "functions.pages.sold_here:routes",
        "refresher": "functions.background.shop_upkeep:Offered",
        "expiry": "functions.background.shop_upkeep:measure",
    },
    paths=("/shop", "/shop/cart", "/desk/shop"),
    sample="local.sample.stock:plant",
    workbench="tools.shop:sell",
    benchmarks={"rush": "benchmarks.rush:main"},
    described="shared.data.orders.entities:DESCRIBED",
    queries="shared.data.orders.entities:QUERIES",
)

MAIL = Feature(
    name="mail",
    does="mail by Amazon SES: links to new passwords, proved addresses, notices, the day's messages",
    owns="""
        cli/mail.py events/mailer-work.json functions/account_mail.py functions/api/account_mail.py
        functions/background/mailer.py functions/pages/account_mail.py infra/mail.py infra/rows/mail.py local/mailbox.py
        shared/api/mail_fields.py shared/data/mail shared/models/mail.py shared/runtime/mail.py tests/data/test_mail.py
        tests/signed_in/test_mail.py tests/support/post_office.py tools/mail_sample.py web/templates/mail
        docs/cost.md#mails docs/deploying.md#mail docs/ledger.md#identity-of-a-domain docs/ledger.md#mail-is-sent
        docs/ledger.md#sandbox-of-mail docs/ledger.md#simulator-of-mailboxes
    """,
    routes=(
        *("/password-resets", "/passwords", "/email-verifications", "/me/email-verifications"),
        *("/account/forgot", "/account/reset", "/account/verify", "/account/email/verify", "/account/digest"),
        *("/account/unsubscribe", "/mail"),
    ),
    named=(
        *("data.mail", "mail", "mailer", "mailer-work", "unsubscribing", "mailed-reset", "mailed-verification"),
        "Mailed links: a new password, a proved address",
        "The day's messages by mail",
        "The day's messages by mail, after a bounce",
        "aws sesv2 delete-suppressed-destination ",
        *("btd users mail-digest", "btd users reset-link", "btd users resume-mail"),
    ),
    patterns="data/mail/patterns.toml",
    functions="infra.rows.mail:FUNCTIONS",
    more_rights="infra.rows.mail:MORE",
    options="infra.rows.mail:STAGES",
    queues={"mail": "MailQueueUrl"},
    resources="infra.mail:add",
    entities="shared.data.mail.keys:ENTITIES",
    user_hides="shared.data.mail.keys:USER_HIDES",
    user_places="shared.data.mail.keys:USER_PLACES",
    in_account="shared.models.mail:MailSettings",
    described="shared.data.mail.keys:DESCRIBED",
    on_account="functions.account_mail:on_account",
    api_routes="infra.rows.mail:ROUTES",
    answer_fields="shared.api.mail_fields:IN_ANSWERS",
    body_fields="shared.api.mail_fields:IN_BODIES",
    changes_account="functions.api.account_mail:change",
    of_account="shared.api.mail_fields:of_account",
    account_page="functions.pages.account_mail:on_account_page",
    password_paths=("/passwords", "/password-resets"),
    signed_paths=("/account/unsubscribe",),
    joins={"accounts": "functions.api.account_mail:router", "account": "functions.pages.account_mail:routes"},
    in_pages="mail/in-pages.html",
    workbench="tools.mail_sample:follow",
    local_pages={"/mail": "local.mailbox:show"},
    metrics="shared.runtime.mail:",
    delivery_metrics="shared.runtime.mail:METRICS",
    subcommands="cli.mail:SUBCOMMANDS",
    redriven="cli.mail:REDRIVEN",
    proofs="cli.mail:PROOFS",
)

PICTURES = Feature(
    name="pictures",
    does="pictures of deals, which editors send as files and the site serves",
    owns="""
        cli/pictures.py events/resizer-upload.json functions/api/uploads.py functions/background/resizer.py
        functions/pages/desk/pictures.py functions/pages/pictures.py infra/pictures.py infra/rows/pictures.py
        shared/data/catalog/uploads.py shared/decoder.py shared/pictures.py shared/runtime/bucket.py
        tests/functions/test_pictures.py tests/functions/test_uploads.py web/templates/desk/picture.html
        web/templates/desk/pictures.html docs/cost.md#pictures docs/ledger.md#lifecycle-by-tag
        docs/ledger.md#upload-reaches-the-resizer docs/site.md#pictures
    """,
    routes=("/pictures",),
    named=(
        *("pictures", "resizer", "resizer-upload", "uploads", "UploadsDeadLettersUrl", "decoder"),
        *("PictureForm", "PictureState", "upload-reaches-the-resizer"),
    ),
    functions="infra.rows.pictures:FUNCTIONS",
    more_rights="infra.rows.pictures:MORE",
    resources="infra.pictures:add",
    queues={"uploads": "UploadsUrl"},
    api_routes="infra.rows.pictures:ROUTES",
    answers="functions.api.uploads:ANSWERS",
    in_pages="desk/pictures.html",
    joins={
        "editors": "functions.api.uploads:add",
        "desk": "functions.pages.desk.pictures:",
        "publisher": "functions.background.resizer:follow",
    },
    sends_picture="cli.pictures:send",
    redriven="cli.pictures:REDRIVEN",
    proofs="cli.pictures:PROOFS",
    reaches_files=("shared.runtime.bucket:bucket",),
)

FEATURES: tuple[Feature, ...] = (SHOP, PICTURES, MAIL, WORKINGS, TEXTBOOK, FIREWALL, EXPORTS, CDN)
"""The features that are installed."""


def owns(feature: Feature, path: str) -> bool:
    """Whether a file is a feature's own."""
    return any(path == own or path.startswith(f"{own}/") or fnmatchcase(path, own) for own in feature.owns.split())


def of(place: str) -> Iterator[Any]:
    """What the installed features have in a place of their records; an object is imported, all else is returned as it
    is."""
    for feature in FEATURES:
        if found := getattr(feature, place):
            yield imported(found) if isinstance(found, str) and ":" in found else found


def merged(place: str) -> dict[Any, Any]:
    """The mappings that the installed features have in a place of their records, as one."""
    return {name: each for found in of(place) for name, each in found.items()}


def joining(function: str) -> Iterator[Any]:
    """What the features add to the module of a function."""
    return (imported(each[function]) for each in of("joins") if function in each)


def tabs() -> Mapping[str, list[tuple[str, str]]]:
    """The links of all features in each row of links."""
    return {row: [tab for each in of("tabs") for tab in each.get(row, ())] for row in ("sections", "desk", "mine")}


def imported(name: str) -> Any:
    """The object that a record calls ``module:name``, or the module that it calls ``module:``."""
    module, _, own = name.partition(":")
    return getattr(import_module(module), own) if own else import_module(module)


def call(place: str, *arguments: Any) -> None:
    """Call the functions that the installed features have in a place of their records."""
    for function in of(place):
        function(*arguments)
