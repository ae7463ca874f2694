"""How a feature joins the site: one class for each role that a file of its folder can have.

A feature is a folder in ``features/``. Delete the folder, and the site is without it. Nothing is registered: a file's
name says its role. ``features/polls/items.py`` has the role :class:`Items`, and may define what that class declares::

    ENTITIES = {"Polls": (Entity("Poll", ...),)}

Names with a default may be left out; a name without one is required. The core asks for the role of all installed
features, and loops (``shared/features.py``)::

    for items in features.roles(hooks.Items):
        rows |= items.ENTITIES

``__init__.py`` imports nothing. It has a docstring, and constants: ``DOES`` (what the site lacks without the
folder), ``NEEDS`` (the features that it can't do without), ``ORDER`` (a number: links are shown in this order; else 0),
and ``JOINS``, the modules that join a function, so that a function imports only what joins it::

    JOINS = {"editors": "api", "editing": "pages", "expiry": "upkeep"}

Here ``api.py`` has the role :class:`Editors`, ``pages.py`` has :class:`Editing`, and ``upkeep.py`` has :class:`Expiry`.

These are found by their names, too: ``templates/``, ``assets/``, ``events/``; ``templates/in-pages.html``, which every
page includes several times (``on_page`` says where); ``patterns.toml``; ``README.md``, a page of the documents.

Who checks: ``make types`` compares each module's names with the types here (``tools/roles.py``). The tests, the
synthesis and ``make run`` refuse features that clash, or name a function, command or group that isn't there; modules
that have no effect, can't be imported, lack a required name, or have a value of another type; and a misspelled hook: a
public name that nothing uses (``tools/folders.py``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from aws_cdk import Stack as CdkStack
    from aws_lambda_powertools.event_handler import APIGatewayRestResolver
    from aws_lambda_powertools.event_handler.api_gateway import Router
    from pydantic import BaseModel
    from typer import Typer

    from cli.dead_letters import Kind
    from cli.proofs import Proof
    from infra.rights import Access, Right, Scan
    from infra.rows import Function
    from infra.site import Site as Parts
    from infra.stage import Option
    from shared.api.fields import Answer, Body
    from shared.api.member_bodies import AccountChange
    from shared.data import entity
    from shared.data.catalog import deal_pages, phrases
    from shared.data.catalog.changes import DealChange
    from shared.data.invariants import Others
    from shared.dynamodb.attributes import Item
    from shared.dynamodb.damage import Failures
    from shared.dynamodb.table import Table
    from shared.errors import DealsError
    from shared.html import pages
    from shared.http.requests import Event
    from shared.models.catalog import Deal, Listed, Mark, Page
    from shared.models.members import Session, User
    from shared.runtime.metrics import Metric
    from shared.values.stored import Attribute


Added = Mapping
"""A mapping to which several features may add under one key. In other mappings, a key has one owner."""


class Broken(SystemExit):
    """A feature's folder can't be used, for the reason that the program ends with."""


class Role:
    """A role of a module: its attributes are the module's, or the defaults of its class."""

    def __init__(self, module: ModuleType) -> None:
        own, self.file = vars(module), f"{module.__name__.replace('.', '/')}.py"
        if getattr(module.__spec__, "_initializing", False):  # as the import system itself asks in circles of imports
            raise Broken(f"{self.file} is still being imported: import what asks for its role before it.")
        for name, required in names(type(self)).items():
            if name in own:
                setattr(self, name, own[name])
            elif required:
                raise Broken(f"{self.file} lacks {name}, which its role needs.")


def roles() -> list[type[Role]]:
    """All roles of modules."""
    return [*(each for each in Role.__subclasses__() if each is not Joined), *joined()]


def joined() -> list[type[Role]]:
    """The roles that ``JOINS`` gives to modules."""
    found = [each for of in Joined.__subclasses__() for each in (of, *of.__subclasses__())]
    return [each for each in found if each not in (ApiPart, PagesPart)]


def name_of(role: type[Role]) -> str:
    """A role's name: of its file, or as ``JOINS`` has it."""
    return re.sub("(?<=[a-z])(?=[A-Z])", "_", role.__name__).lower()


_NAMES: dict[type[Role], dict[str, bool]] = {}


def names(role: type[Role]) -> dict[str, bool]:
    """The names that a role knows, and whether each is required."""
    if role not in _NAMES:
        found: dict[str, bool] = {}
        for each in role.__mro__[-3::-1]:  # without Role and object
            found |= {name: name not in vars(each) for name in (*each.__annotations__, *vars(each)) if name[0] != "_"}
        _NAMES[role] = found
    return _NAMES[role]


# What the table holds, and what deals and accounts have.


class Items(Role):
    """``items.py``: item types and their keys. Imports no data layer."""

    ENTITIES: Added[str, tuple[entity.Entity, ...]] = {}
    """The rows of its item types, by a heading that says what they belong to (``shared/data/entities.py``)."""

    USER_PLACES: tuple[entity.Place, ...] = ()
    """Places of User items in indexes."""

    USER_HIDES: Mapping[str, str] = {}
    """Attributes that it adds to User items and that the table browser hides, each with the reason."""

    NOTES: Mapping[str, Callable[[Item], tuple[str, str]]] = {}
    """For each item type that is a note about a partition: that partition's key and its index."""

    COLLECTIONS: Mapping[str, str] = {}
    """Partitions that the table browser offers to start with, by title."""

    DESCRIBED: Added[str, tuple[tuple[type, ...], Mapping[str, type]]] = {}
    """For each item type, the models whose fields are the columns of an export, and further attributes."""

    QUERIES: Mapping[str, tuple[str, str]] = {}
    """Example queries of exported items, by title: one for SQLite, one for Athena."""

    REFRESHES: Mapping[str, str] = {}
    """Item types whose records the refresher reads, each with a word for it."""


class Fields(Role):
    """``fields.py``: what it adds to deals and messages. Almost every function imports it, so it imports little."""

    STORED: tuple[type | Attribute, ...] = ()
    """The attributes of its values in deals, or the models that have them: ``deal.own(Kind)`` is such a value."""

    IN_ANSWERS: Mapping[str, Callable[[Deal], object]] = {}
    """Fields of a deal's JSON, by name."""

    LOGGED: Mapping[str, tuple[type, tuple[str, str, str]]] = {}
    """Kinds of values whose changes are logged, by the field's name, with the words for added, changed and removed."""

    def edited(self, before: Deal, after: Deal, changes: Mapping[str, Any], /) -> Deal:
        """A deal that is about to be written, with what it notes of the edit that asks for ``changes``."""
        return after

    def on_card(self, deal: Deal, /, *, active: bool) -> Mapping[str, Any]:
        """The values that it adds to a deal's card."""
        return {}

    def image(self, deal: Deal, /) -> Mapping[str, Any] | None:
        """A deal's image, if the site itself serves it: its files with their widths, its size and colour."""
        return None

    NEWS: tuple[News, ...] = ()
    """Notifications about its own things."""


class News(NamedTuple):
    """Notifications about a feature's thing, such as an ``order``: their kinds, its page, and the stated reason."""

    thing: str
    kinds: tuple[str, ...]
    page: str
    why: str


class AccountFields(Role):
    """``account_fields.py``: what it adds to accounts. Public functions read none, and start without it."""

    ACCOUNT: type | None = None
    """The model of what it stores in User items: ``user.own(Model)``."""

    HOLDS_ACCOUNTS: Mapping[str, type[DealsError]] = {}
    """Counts of an Account item that must be 0 before its removal, each with the error that says so."""


class Removal(Role):
    """``removal.py``: how items are removed with their account, if other items count or point to them."""

    REMOVERS: Mapping[str, Callable[..., int]]
    """By item type, ``remove(table, username, most, required=write)``: it removes at most ``most`` items, each with a
    write that must succeed, and returns how many it removed. The type's row says ``remover=True``."""


class Invariants(Role):
    """``invariants.py``: what must hold of its items. A feature that checks the table asks for it."""

    CHECK: type[Others]
    """Sees each item of a scan, then tells the faults (``shared/data/invariants.py``)."""


# What functions are made of. JOINS names the modules with these roles.


class Joined(Role):
    """A role that ``JOINS`` gives to a module, by the name of the function that it joins, or of what it does there."""


class ApiPart(Joined):
    """A role of a module that adds routes to a function of the API."""

    router: Router | None = None


class PagesPart(Joined):
    """A role of a module that adds pages to a function."""

    routes: pages.Routes | None = None


class Editors(ApiPart):
    """Routes of the API for editors (``functions/api/editors.py``)."""


class Members(ApiPart):
    """Routes of the API for members (``functions/api/members.py``)."""


class Catalog(ApiPart):
    """Public routes of the API (``functions/api/catalog.py``)."""


class Accounts(ApiPart):
    """Routes of the API for the caller's account (``functions/api/accounts.py``); pages call ``on_account``, too."""

    def on_account(self, what: Literal["made", "email", "password"], before: User, after: User, /) -> str | None:
        """Do what follows from a new account, or from a changed address or password.

        It may return the code of a notice that says more than the core's about a new account.
        """

    def of_account(self, table: Table, user: User, /) -> Mapping[str, object]:
        """The fields that it adds to the JSON of the caller's account."""
        return {}

    def takes_more(self, user: User, /) -> bool:
        """Whether signing in to an account takes more than its password. Pages then ``go_on``. The API refuses: its
        programs use a token (``Session.program``) that is made on the feature's pages."""
        return False

    def change(self, user: User, asked: AccountChange, /) -> None:
        """Change what a request asks for of the fields that it adds to an account."""


class Api(Joined):
    """The module of an API function of its own."""

    app: APIGatewayRestResolver


class Site(PagesPart):
    """Public pages (``functions/pages/site``)."""


class Mine(PagesPart):
    """A member's own pages (``functions/pages/mine``)."""

    REPLAYED: tuple[Callable[..., Any], ...] = ()
    """Pages of buttons that are pressed again after signing in."""

    def states_of(self, table: Table, deal_id: str, username: str, /) -> Mapping[str, bool]:
        """Which of its buttons on a deal's page are on for a member."""
        return {}

    def watches(self, table: Table, username: str, /) -> Any:
        """What it reads for the page of watches, together with the other reads."""

    def on_watches(self, found: Any, now: datetime, /) -> Mapping[str, Any]:
        """The values that it adds to that page, from what ``watches`` read."""
        return {}


class Account(PagesPart):
    """The account's pages (``functions/pages/account``)."""

    def on_account_page(self, user: User, /) -> Mapping[str, Any]:
        """The values that it adds to the account's page."""
        return {}

    def go_on(self, request: pages.Request, user: User, place: str, /) -> pages.Answer | None:
        """Lead a user whose password is right to the second step of signing in, and from there to ``place``."""


class Editing(PagesPart):
    """Pages for editors, and parts of those where editors post, edit and list deals."""

    THEN: str = ""
    """The value of a button of the form that posts the deal and then goes to this part of its page."""

    COUNTED: tuple[str, str, str] | None = None
    """What it counts of deals: a heading, and the words for one and for several."""

    def count(self, deal_ids: Sequence[str], /) -> Mapping[str, int]:
        """The numbers of that, by the deals' ids."""
        return {}

    def before_posting(self, typed: Mapping[str, str], /) -> None:
        """Refuse to post a deal with the values of a form. Raises InvalidFields."""

    def in_form(
        self, deal: Deal | None, request: pages.Request, typed: Mapping[str, str], own: Any, /
    ) -> Mapping[str, Any]:
        """The values that it adds to a deal's form; with ``sends_to``, the form sends a file to that host. ``own`` is
        what a feature's form edits instead of a deal."""
        return {}

    def today(self, session: Session, /) -> Any:
        """What it reads for the first of these pages, together with the other reads."""

    def on_today(self, found: Any, now: datetime, /) -> Mapping[str, Any]:
        """The values that it adds to that page, from what ``today`` read."""
        return {}

    def on_deals(self, session: Session, now: datetime, /) -> Mapping[str, Any]:
        """The values that it adds to the list of all deals."""
        return {}


class Publisher(Joined):
    """Follows changes of deals, in the order of writing (``functions/background/publisher.py``)."""

    def follow(self, change: DealChange, /) -> None:
        """Do what follows from a change. It may come twice."""


class Refresher(Joined):
    """Follows records of the stream in batches (``functions/background/refresher.py``)."""

    Follower: Callable[[], Follower]
    """Makes what collects the effects of a batch."""


class Follower:
    """Collects the effects of a batch of records, then settles them."""

    def takes(self, raw: dict[str, Any]) -> bool:
        """Handle a record of its own item types; returns whether it is one."""
        return False

    def add(self, change: DealChange, *, over: bool) -> None:
        """Collect a deal's change; ``over`` says that the deal isn't active before or after it."""

    def settle(self, failures: Failures) -> None:
        """Write what the batch leads to; what fails is added to ``failures``."""


class Expiry(Joined):
    """Works each minute (``functions/background/expiry.py``)."""

    def each_minute(self, failures: Failures, /) -> None:
        """Do what is due; what fails is added to ``failures``, and the rest goes on."""


# What all pages, and all functions on stages that show their work, have of a feature.


class Navigation(Role):
    """``navigation.py``: its links, and what is true of its paths. Every page's function imports it, so it imports
    nothing."""

    TABS: Added[str, tuple[tuple[str, str], ...]] = {}
    """Links (path, name) by row: ``lists`` of all deals, ``sections`` of the site, ``mine``, a member's own pages, and
    ``editors``, in an editor's header. A feature's pages may have rows of their own."""

    EDITS: str = ""
    """The beginning of the paths of deals' forms; a deal's number follows, or ``new``."""

    FEEDS: Added[str, str] = {}
    """The formats of lists' feeds, each with what follows a list's path in a feed's."""

    EXPLAINS: str = ""
    """The beginning of the paths of pages about access patterns; a pattern's number follows."""

    PASSWORD_PATHS: tuple[str, ...] = ()
    """Routes of the API that are throttled like signing in."""

    SIGNED_PATHS: tuple[str, ...] = ()
    """Pages whose links are signed, so that a form may come from anywhere."""

    PRIVATE_PATHS: tuple[str, ...] = ()
    """Beginnings of paths that crawlers leave out."""

    IMAGE_PATHS: tuple[str, ...] = ()
    """Beginnings of the paths of images that the site serves."""


class Head(Role):
    """``head.py``: counts in the header of a member's pages."""

    COUNTS: Mapping[str, Callable[[Table, str, datetime], Any]]
    """By the template's name for it, a function that counts something of a user at a time."""


class Lists(Role):
    """``lists.py``: lists of deals, which the API and the site show at the same path."""

    LISTS: tuple[DealList, ...]

    def marks(self, table: Table, deals: Sequence[Deal], now: datetime, /) -> Mapping[str, tuple[Mark, ...]]:
        """Marks on the cards of the newest deals, by id. They are stored with the page's copy, so that readers pay
        nothing for them; each build of a copy does."""
        return {}


class DealList(NamedTuple):
    """A list of deals. ``read`` returns a page of it, given a table, a time, a ``limit`` and a ``cursor``. ``summary``
    and ``schema`` are for the API's document, ``description`` and ``size`` for its page.

    ``chosen`` takes the list's first deals, and how many there is room for, and returns those that the front page
    shows, under the heading ``on_front_page``.
    """

    path: str
    read: Callable[..., Page[Listed]]
    summary: str
    template: str
    description: str
    schema: str = "DealList"
    size: int = 24
    on_front_page: str = ""
    chosen: Callable[[Sequence[Listed], int], Sequence[Listed]] | None = None


class DealPage(Role):
    """``deal_page.py``: its part of a deal's page."""

    def ask(self, table: Table, deal_id: str, /) -> Any:
        """What it reads while the deal is read."""

    def shown(self, asked: Any, found: deal_pages.DealPage, now: datetime, /) -> Mapping[str, Any]:
        """The values that it adds to the page, from what ``ask`` returned and from what the page reads itself."""
        raise NotImplementedError


class Phrases(Role):
    """``phrases.py``: limits among the words of a typed search. Only one feature can read them."""

    HELP: str
    """What the help of ``btd deals search`` says of them."""

    def read(self, typed: str, /) -> phrases.Phrases:
        """A typed text: the words to search, and the limits in it."""
        raise NotImplementedError


class Entry(Role):
    """``entry.py``: wraps the handlers of functions on stages that show their work."""

    def wrap(self, function: ModuleType, /) -> Callable[[Any, Any], Any]:
        """The function's handler, which also reports the cost of a request."""
        raise NotImplementedError


class Panel(Role):
    """``panel.py``: the cost of a page and of its form, on stages that show their work."""

    begin_page: Callable[[Event], None]
    """Is called before a page is made."""

    values: Callable[..., Mapping[str, Any]]
    """The values that it adds to a page's template, by the page's ``status``."""

    is_once: Callable[[Mapping[str, Any]], bool]
    """Whether a page with these values is for one reader only."""

    conclude: Callable[[Event], None]
    """Is called with the answer."""

    server_timing: Callable[[], str]
    """The value of the header of that name."""


# The API's document, and the fields of others' bodies and answers.


class Answers(Role):
    """``answers.py``: the models of its answers, for the OpenAPI document and the tests. No function imports it."""

    ANSWERS: Mapping[str, type[BaseModel] | Mapping[str, Any]] = {}
    """The models of its routes' answers, by name, or the fields that one is made of."""

    OPENAPI: Added[str, Mapping[Any, Any]] = {}
    """Additions to ``parameters``, ``of_paths``, ``headers`` and ``located`` of ``tools/openapi.py``."""


class ApiFields(Role):
    """``api_fields.py``: the fields that it adds to the core's bodies and answers. Functions that take bodies import
    it, so its own models are elsewhere."""

    ANSWERS: Added[str, type[Answer]] = {}
    """Models of the fields that it adds to an answer, by the name of the answer's model."""

    BODIES: Added[str, type[Body]] = {}
    """Models that derive from a body and add fields, by the body's name."""


# The stacks.


class Rights(Role):
    """``rights.py``: Lambda functions and their rights. Imports no aws_cdk, because commands read it, too."""

    FUNCTIONS: tuple[Function, ...] = ()
    """The rows of its own functions. Each is the module of that name in the folder."""

    MORE: Added[str, tuple[Right | Scan, ...]] = {}
    """Rights that it adds to other functions, by name."""

    WORST: Mapping[str, str] = {}
    """What someone who may write an attribute (``Order.Status``), or remove items of a type, could do at worst; for the
    table in SECURITY.md (``tools/worst_cases.py``)."""

    def any_function(self, row: Function, /) -> Access:
        """Rights that it adds to each function on stages that show their work."""
        return ()

    ROUTES: tuple[tuple[str, ...], ...] = ()
    """The API's routes: the function, ``anyone`` or ``signed in``, then texts of methods and a path."""

    QUEUES: Mapping[str, str] = {}
    """Its queues of work, each with the stack's output that has its address."""

    STAGES: Added[str, tuple[Option, ...]] = {}
    """Settings of stages that every copy of the project has, by the stage's name. ``infra/settings.py`` may have others
    of their kinds."""


class Stack(Role):
    """``stack.py``: resources."""

    def add(self, stack: CdkStack, parts: Parts, /) -> None:
        """Add resources to a stage's stack, whose parts are given."""

    def watch(self, stack: CdkStack, parts: Parts, /) -> None:
        """Watch the parts, after all features have added theirs."""


class Metrics(Role):
    """``metrics.py``: the metrics that it reports."""

    METRICS: tuple[Metric, ...]
    """All of them."""

    ESSENTIAL: tuple[Metric, ...] = ()
    """Those that are paid for where only the essential is watched."""

    DELIVERY: tuple[Metric, ...] = ()
    """Those that the dashboard draws beside the messages delivered."""


# Commands, the laptop, the demo, the documents and the benchmarks.


class Commands(Role):
    """``commands.py``: its part of ``btd``."""

    GROUPS: tuple[Typer, ...] = ()
    """Groups of commands."""

    COMMANDS: tuple[Callable[..., None], ...] = ()
    """Commands without a group. One that is named like a keyword of Python has an underscore behind its name."""

    SUBCOMMANDS: Added[str, tuple[Callable[..., Any], ...]] = {}
    """Functions that it adds to groups of others, by the group's name."""

    REPLACES: Mapping[str, Callable[..., None]] = {}
    """Commands that do what another without a group does and more, by its name."""

    IMPORTED: tuple[FileKind, ...] = ()
    """Other kinds of files, for commands that import deals."""

    EDITS: Mapping[str, tuple[Any, Callable[[Table, Deal, Any, datetime], Deal]]] = {}
    """Options of ``btd deals edit``, by name: the annotation, and the function that makes the change."""

    REDRIVEN: tuple[Kind, ...] = ()
    """The kinds of its work in dead-letter queues, for commands that send it again."""

    PROOFS: Mapping[str, Proof] = {}
    """Proofs of its claims about AWS, by name."""

    TOOLS: tuple[Callable[..., Any], ...] = ()
    """Tools that it offers to assistants by the Model Context Protocol."""


class FileKind(NamedTuple):
    """A kind of file: how it is recognised, and the function that imports it."""

    recognises: Callable[[Path], bool]
    read: Callable[[Path], None]


class Sample(Role):
    """``sample.py``: its part of a new local cloud's sample."""

    def plant(self, table: Table, front: Sequence[str], newest: Sequence[str], now: datetime, /) -> None:
        """Add to the sample, given the ids of the front page's deals and of all active ones, newest first."""

    DRAWS: Mapping[str, tuple[Callable[..., Any], Callable[[Any, Deal], Deal]]] = {}
    """By the stack's output that names where drawings are kept: a function that connects to it by its name, and one
    that stores a deal's drawing there and adds it to the deal."""


class Local(Role):
    """``local.py``: pages that only the laptop has."""

    LINKS: tuple[tuple[str, str, str], ...] = ()
    """Addresses that ``make run`` prints: name, path and remark."""

    PAGES: Mapping[str, Callable[[str], tuple[int, dict[str, str], str]]] = {}
    """By the beginning of a path, the function that answers it: with a status, headers and a text."""


class Demo(Role):
    """``demo.py``: what the demo in a browser's tab needs for it."""

    PACKED: tuple[str, ...] = ()
    """Pages whose needs are packed to be there at first sight."""

    PAGES: Mapping[str, str] = {}
    """Pages that only the demo has: by the beginning of their paths, the module that answers them."""

    LINKS: tuple[tuple[str, str], ...] = ()
    """Links beside the demo's buttons: path and name."""

    PREPARES: Mapping[str, Callable[[Any], None]] = {}
    """What is called with DynamoDB's client before a function is first invoked, by the function's name; a page of the
    demo alone has the name of its module."""

    PLACES: Mapping[str, Callable[[Item], dict[str, str]]] = {}
    """By an item's type, what gives an item its places in indexes that follow from a time: the demo moves all times of
    its sample to the day on which it is opened."""

    def connect(self, files: Any, /) -> None:
        """Take the demo's files instead of a bucket."""

    def shown(self) -> Iterable[str]:
        """The paths of source files whose text its pages show."""
        return ()


class Workbench(Role):
    """``workbench.py``: its part of the model for NoSQL Workbench (``tools/workbench.py``)."""

    def happens(self, table: Table, posted: Sequence[Deal], readers: Mapping[str, User], now: datetime, /) -> None:
        """Let something happen on the model's first morning."""


class Generated(Role):
    """``generated.py``: files that tools make for it."""

    def files(self) -> Mapping[Path, str]:
        """Data from maintained libraries: files and what they hold (``tools/standards.py``)."""
        return {}

    def pages(self) -> Iterator[tuple[str, str]]:
        """Pages of the documents' site: the path that each would have in the repository, and its text."""
        yield from ()

    MENU: Mapping[str, str] = {}
    """Those of its pages that the site's menu names, by their titles."""


class Benchmarks(Role):
    """``benchmarks.py``: what ``python -m benchmarks`` measures of it."""

    BENCHMARKS: Mapping[str, Callable[[], None]]
    """The benchmarks, by name."""

    def limited(self) -> Mapping[str, Limited]:
        """Its requests that cost more than any of the core's, so that each member may send only a few, by name."""
        return {}


class Limited(NamedTuple):
    """A request that is limited for each member: dollars for a million, and how many an hour."""

    dollars: float
    an_hour: int
