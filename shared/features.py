"""The features that a copy of this project can do without (``make fork``): a record each, and the list of them.

The rest names no feature: it asks ``of`` for what the records have in some place, and loops over that. A record is
data. It says ``module:name`` where it means an object, so that a function imports only what it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import features as package
from shared import hooks


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """Notifications about a thing of a feature, such as an ``order``: their kinds, the page of one, and the reason that
    they give."""

    thing: str
    kinds: tuple[str, ...]
    page: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DealList:
    """A list of deals that the API and the site show at the same path, a page at a time."""

    path: str

    read: str
    """The function that returns a page of it (``Listed``), of a table at a time, by a ``limit`` and a ``cursor``."""

    summary: str
    """What the API's document says of it."""

    template: str
    description: str

    schema: str = "DealList"
    """The model of the API's answer."""

    size: int = 24
    """Deals on a page of the site."""

    on_front_page: str = ""
    """The heading of the list's first deals on the front page, if it shows any."""

    chosen: str = ""
    """The function that chooses those: it takes the first deals of the list, and how many there may be."""


def _module(*parts: str) -> str:
    """A place that names a module, with the names of the parts that such a module may have."""
    named: str = field(default="", metadata={"parts": parts})
    return named


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """What one feature adds, and which files are its own. Places that are empty add nothing."""

    name: str = ""
    """The name of its folder in ``features/``, which it gets from there."""

    does: str
    """What a copy without it lacks."""

    owns: str = ""
    """Patterns of its own files, from the project's folder, with spaces between them. A folder is owned with all that
    is in it; a section of a document is named by its anchor (``docs/site.md#pictures``)."""

    needs: tuple[str, ...] = ()
    """The features that it cannot do without."""

    order: int = 0
    """Where it stands among the features, whose links and rows are shown in this order."""

    routes: tuple[str, ...] = ()
    """What the paths of its pages and routes begin with: lists in tests lose such entries with it."""

    named: tuple[str, ...] = ()
    """Other names of its own, such as those of functions: the same."""

    # The stack.

    rows: str = _module("FUNCTIONS", "MORE", "any_function", "ROUTES", "QUEUES", "STAGES")
    """A module of ``infra/rows``: ``FUNCTIONS`` are rows of Lambda functions, ``MORE`` what other functions may do for
    it, by their names, ``any_function`` returns further rights of each, on a stage that shows its work, ``ROUTES`` are
    those of the API, ``QUEUES`` names of queues of work, each with the stack's output of its address, and ``STAGES``
    settings of stages, by the stages' names."""

    resources: str = ""
    """Is called with the stack, and what it is made of (``infra/stacks.py``), to add resources."""

    metrics: str = _module("ESSENTIAL", "DELIVERY")
    """The module of its metrics: ``ESSENTIAL`` are paid for where only the essential is watched, and the dashboard
    shows ``DELIVERY`` beside the messages delivered."""

    # The table.

    items: str = _module("ENTITIES", "USER_PLACES", "USER_HIDES", "NOTES", "COLLECTIONS", "DESCRIBED", "QUERIES")
    """The module of its items: ``ENTITIES`` are the rows of their types, by what they belong to
    (``shared/data/entities.py``), ``USER_PLACES`` places of users in indexes, ``USER_HIDES`` hidden attributes of
    users, with the reasons, ``NOTES`` the partitions that notes are about, by the notes' types, ``COLLECTIONS``
    partitions to begin with in the table's browser, ``DESCRIBED`` the models that ``btd export`` takes columns of, and
    other attributes, by types of items, and ``QUERIES`` examples of what to ask its file, and Athena."""

    invariants: str = ""
    """Makes what holds its items against each other (``shared/data/invariants.py``)."""

    holds_accounts: Mapping[str, str] = field(default_factory=dict)
    """Counts of an account that must be 0 before it is removed, each with the error that says so."""

    in_deals: str = _module("STORED", "IN_ANSWERS", "LOGGED", "on_card", "image", "edited")
    """A module of what it adds to deals: ``STORED`` are the attributes of its values, which ``deal.own(Kind)`` returns,
    ``IN_ANSWERS`` has functions that return fields of a deal's JSON, by their names, ``LOGGED`` are the kinds whose
    changes are logged, by the names of the fields, each with the words for one that is added, changed and removed,
    ``on_card`` returns values of a deal's card, ``image`` its image where the site serves that itself, and ``edited``
    a deal that is about to be written, with what the feature notes of the edit: the deal before, after, and the
    changes that were asked for."""

    beside_deal: str = _module("ask", "shown")
    """A module of what a deal's page shows: ``ask`` is called with the table and the deal's id while the deal is read,
    and ``shown`` with what it returned, the deal and the time, for values of the page's templates."""

    refreshes: Mapping[str, str] = field(default_factory=dict)
    """Types of items whose records the refresher reads, each with its word."""

    # Accounts.

    in_account: str = ""
    """A model of what it stores in an account's item, which ``user.own(Model)`` returns."""

    on_account: str = ""
    """Is called with what happened to an account (``made``, ``email``, ``password``), before and after."""

    # The API.

    api: str = ""
    """The app whose routes its commands ask."""

    answers: str = _module("ANSWERS", "OPENAPI")
    """The module of what its routes answer: ``ANSWERS`` are the models, and ``OPENAPI`` adds to the document."""

    in_answers: str = ""
    """Models of the fields that it adds to others' answers, by the names of their models."""

    in_bodies: Mapping[str, str] = field(default_factory=dict)
    """Models that derive from others' bodies and add fields, by the bodies' names: a function imports its own only."""

    of_account: str = ""
    """Returns its fields of the answer about an account."""

    # The functions and their pages.

    lists: tuple[DealList, ...] = ()
    """Lists of deals."""

    joins: Mapping[str, str] = field(default_factory=dict)
    """What it adds to a function, by the function's name (``joining``): routes, a task, or a module that has what the
    function's own asks for."""

    wraps: str = ""
    """Makes a function's handler one that says in headers what it took, on stages that show their work."""

    panel: str = ""
    """The module that says what a page took and what its form did, on stages that show their work."""

    in_pages: str = ""
    """A template that each page includes several times; ``on_page`` says where on the page it is then."""

    tabs: Mapping[str, tuple[tuple[str, str], ...]] = field(default_factory=dict)
    """Links in rows of links: ``lists`` of all deals, other ``sections`` of the site, the ``desk``, and ``mine``, a
    member's own pages."""

    head_counts: Mapping[str, str] = field(default_factory=dict)
    """What is counted for the header of a member's pages."""

    news: tuple[News, ...] = ()
    """Notifications about other things than deals."""

    patterns: str = ""
    """The file of its access patterns, from ``shared/`` (``shared/html/patterns.toml`` has those of the core)."""

    explains: str = ""
    """The beginning of the paths of pages about access patterns; a pattern's number follows."""

    paths: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Paths that something is true of: routes of the API that are throttled as signing in is (``password``), pages
    whose links are signed, so that a form may come from anywhere (``signed``), beginnings of what crawlers leave out
    (``private``), beginnings of what images have (``images``), and pages whose needs the demo packs (``packed``)."""

    # Commands.

    commands: str = _module(
        "GROUPS", "COMMANDS", "SUBCOMMANDS", "REPLACES", "IMPORTED", "REWRITES", "REDRIVEN", "PROOFS"
    )
    """A module of ``btd``: ``GROUPS`` and ``COMMANDS`` are its own, ``SUBCOMMANDS`` functions to add to groups, by the
    groups' names, ``REPLACES`` functions that do what a command of the core does and more, by its name, ``IMPORTED``
    other kinds of files that ``btd import`` reads (``cli/imports.py``), ``REWRITES`` those of ``btd backfill``,
    ``REDRIVEN`` the kinds of work in dead-letter queues (``cli/dead_letters.py``), and ``PROOFS`` the proofs of
    assumptions about AWS by their names (``cli/proofs``)."""

    edits: str = ""
    """Options of ``btd deals edit``, by their names: each is its annotation, and the function that it asks for."""

    # The laptop, the demo, the documents and the benchmarks.

    draws: Mapping[str, str] = field(default_factory=dict)
    """What gives a deal of the sample its drawing, which it writes to a bucket, by the stack's output of its name."""

    links: tuple[tuple[str, str, str], ...] = ()
    """Addresses that ``make run`` prints, each as a name, a path and a remark."""

    local_pages: Mapping[str, str] = field(default_factory=dict)
    """Functions that answer paths on the laptop alone, by what the paths begin with."""

    sample: str = ""
    """Adds to the sample of a new local cloud."""

    tools: str = _module("written", "happens", "documents")
    """A module of ``tools``: ``written`` returns files of data that are made from maintained libraries, and what they
    hold (``tools/standards.py``), ``happens`` adds to the model for NoSQL Workbench, and ``documents`` writes pages of
    the documents' site, each as a path and a text."""

    shows_code: str = ""
    """Gives the paths of files whose text its pages show: the demo packs them, too."""

    reaches_files: tuple[str, ...] = ()
    """Functions that connect to a bucket: the demo gives them files of its own."""

    in_demo: Mapping[str, str] = field(default_factory=dict)
    """What the demo calls with DynamoDB's client before it first invokes a function, by the function's name."""

    benchmarks: Mapping[str, str] = field(default_factory=dict)
    """Modules that ``python -m benchmarks`` runs, by the benchmarks' names."""


FOLDER = Path(__file__).resolve().parent.parent / "features"

FOUND = ("patterns.toml", "templates/in-pages.html")
"""Files of features that are found by their names."""

R = TypeVar("R", bound=hooks.Role)
K = TypeVar("K")
V = TypeVar("V")


def found() -> dict[str, dict[str, str]]:
    """Search the disk: for each feature, its modules by role, and the paths of files that are found by their names.

    Raises Broken for a folder that can't be read.
    """
    folders = {file.parent.name: file.parent for at in package.__path__ for file in Path(at).glob("*/__init__.py")}
    return {name: _found(folders[name], folders) for name in sorted(folders)}


def _found(folder: Path, features: Container[str]) -> dict[str, str]:
    own, init = import_module(f"features.{folder.name}"), f"features/{folder.name}/__init__.py"
    if (folder / "feature.py").exists():  # until it has roles
        return {path: f"{folder.name}/{path}" for path in FOUND if (folder / path).exists()}
    if missing := [name for name in ("DOES", "NEEDS") if name not in vars(own)]:
        raise hooks.Broken(f"{init} lacks {missing[0]}.")
    if lacking := [name for name in own.NEEDS if name not in features]:
        raise hooks.Broken(f"{init} needs features/{lacking[0]}, which isn't there.")
    joined = [hooks.name_of(each) for each in hooks.joined()]
    modules = {role: role for role in map(hooks.name_of, hooks.roles()) if (folder / f"{role}.py").exists()}
    modules = {role: module for role, module in modules.items() if role not in joined} | getattr(own, "JOINS", {})
    for role, module in modules.items():
        if role not in map(hooks.name_of, hooks.roles()):
            raise hooks.Broken(f"{init} joins {role}, but can join {', '.join(joined)}.")
        if not (folder / f"{module}.py").exists():
            raise hooks.Broken(f"features/{folder.name}/{module}.py is missing, by which it joins {role}.")
    return {
        **{role: f"features.{folder.name}.{module}" for role, module in modules.items()},
        **{path: f"{folder.name}/{path}" for path in FOUND if (folder / path).exists()},
    }


INSTALLED: Mapping[str, Mapping[str, str]] = vars(package).get("INSTALLED") or found()
"""The installed features. An artifact has the list in ``features/__init__.py``, and searches nothing."""


NOT_DEPLOYED = (
    *("tests", "rights.py", "rows.py", "stack.py", "commands.py", "local.py", "sample*", "workbench.py"),
    *("demo.py", "generated.py", "benchmarks.py", "README.md", "events"),
)
"""What no function imports: it isn't in artifacts."""


def frozen(source: str) -> str:
    """The text of ``features/__init__.py`` in an artifact, with the list of installed features."""
    return f"{source}\nINSTALLED = {INSTALLED!r}\n"


CORE = {"navigation": "shared.html.navigation", "rights": "infra.rows.core"}
"""The core's own modules with roles. They come before those of features."""


def roles(role: type[R]) -> list[R]:
    """The modules that have a role, of the core and of all installed features. They are imported only now."""
    own = CORE.get(hooks.name_of(role))
    return [*([role(import_module(own))] if own else []), *_with_records(role)]


def modules(role: str) -> list[ModuleType]:
    """The modules of all installed features that have a role of a name, such as ``metrics`` or ``editors``."""
    return [import_module(of[role]) for of in INSTALLED.values() if role in of] + _recorded(role)


def files(name: str) -> list[str]:
    """The paths, in ``features/``, of the installed features' files of a name, such as ``patterns.toml``."""
    return [path for name_ in _names() for path in _files_of(name_, name)]


def merge(parts: Iterable[Mapping[K, V]]) -> dict[K, V]:
    """One mapping of several."""
    return {key: value for each in parts for key, value in each.items()}


# Until all features have roles: records beside them.


_FILES = {"rows": "rows:", "resources": "stack:add", "items": "items:", "commands": "commands:", "tools": "sample:"}
"""The places that a feature's file fills by its name."""


def _of_folder(name: str) -> Feature:
    """The record of a folder: that of its ``feature.py`` with what its files fill; of a folder with roles, little."""
    folder = FOLDER / name
    if not (folder / "feature.py").exists():
        own = import_module(f"features.{name}")
        order = getattr(own, "ORDER", 0)
        return Feature(name=name, does=own.DOES, needs=own.NEEDS, owns=f"features/{name}", order=order)
    feature: Feature = import_module(f"features.{name}.feature").FEATURE
    files: dict[str, Any] = {
        place: f"features.{name}.{at}"
        for place, at in _FILES.items()
        if (folder / f"{at.partition(':')[0]}.py").exists() and not getattr(feature, place)
    }
    if (folder / "patterns.toml").exists():
        files["patterns"] = f"../features/{name}/patterns.toml"
    return replace(feature, name=name, owns=f"features/{name} {feature.owns}".rstrip(), **files)


FEATURES: tuple[Feature, ...] = tuple(sorted(map(_of_folder, INSTALLED), key=lambda each: each.order))
"""The features that are installed."""

_MODULES = {
    "Items": "items", "Fields": "in_deals", "Answers": "answers", "Rights": "rows", "Metrics": "metrics",
    "Commands": "commands", "Panel": "panel", "Generated": "tools", "Workbench": "tools",
}  # fmt: skip
"""The places of modules that have a role's names."""

_PLACES: dict[str, Callable[[Feature], Any]] = {
    "Items.REFRESHES": lambda of: of.refreshes,
    "Fields.ACCOUNT": lambda of: of.in_account and imported(of.in_account),
    "Fields.HOLDS_ACCOUNTS": lambda of: {
        count: lambda error=error: imported(error)() for count, error in of.holds_accounts.items()
    },
    "Fields.NEWS": lambda of: of.news,
    "Invariants.CHECK": lambda of: of.invariants and imported(of.invariants),
    "Accounts.on_account": lambda of: of.on_account and imported(of.on_account),
    "Accounts.of_account": lambda of: of.of_account and imported(of.of_account),
    "Api.app": lambda of: of.api and imported(of.api),
    "Publisher.follow": lambda of: "publisher" in of.joins and imported(of.joins["publisher"]),
    "Refresher.Follower": lambda of: "refresher" in of.joins and imported(of.joins["refresher"]),
    "Expiry.each_minute": lambda of: "expiry" in of.joins and imported(of.joins["expiry"]),
    "Navigation.TABS": lambda of: of.tabs,
    "Navigation.EXPLAINS": lambda of: of.explains,
    **{
        f"Navigation.{rule.upper()}_PATHS": lambda of, rule=rule: of.paths.get(rule, ())  # type: ignore[misc]
        for rule in ("password", "signed", "private")
    },
    "Navigation.IMAGE_PATHS": lambda of: of.paths.get("images", ()),
    "Head.COUNTS": lambda of: {name: imported(count) for name, count in of.head_counts.items()},
    "Lists.LISTS": lambda of: tuple(
        replace(each, read=imported(each.read), chosen=each.chosen and imported(each.chosen)) for each in of.lists
    ),
    "DealPage.ask": lambda of: of.beside_deal and imported(of.beside_deal).ask,
    "DealPage.shown": lambda of: of.beside_deal and imported(of.beside_deal).shown,
    "Entry.wrap": lambda of: of.wraps and imported(of.wraps),
    "Panel.server_timing": lambda of: of.panel and imported(of.panel).page_cost.server_timing,
    "ApiFields.ANSWERS": lambda of: of.in_answers and imported(of.in_answers),
    "ApiFields.BODIES": lambda of: {body: imported(added) for body, added in of.in_bodies.items()},
    "Stack.add": lambda of: of.resources and imported(of.resources),
    "Metrics.METRICS": lambda of: (
        of.metrics and tuple(each for each in vars(imported(of.metrics)).values() if type(each).__name__ == "Metric")
    ),
    "Commands.EDITS": lambda of: of.edits and imported(of.edits),
    "Sample.plant": lambda of: of.sample and imported(of.sample),
    "Sample.DRAWS": lambda of: {output: imported(draw) for output, draw in of.draws.items()},
    "Local.LINKS": lambda of: of.links,
    "Local.PAGES": lambda of: {path: imported(shows) for path, shows in of.local_pages.items()},
    "Demo.PACKED": lambda of: of.paths.get("packed", ()),
    "Demo.PREPARES": lambda of: {name: imported(do) for name, do in of.in_demo.items()},
    "Demo.connect": lambda of: of.reaches_files and partial(_connect, of),
    "Demo.shown": lambda of: of.shows_code and imported(of.shows_code),
    "Generated.files": lambda of: of.tools and getattr(imported(of.tools), "written", None),
    "Generated.pages": lambda of: of.tools and getattr(imported(of.tools), "documents", None),
    "Benchmarks.BENCHMARKS": lambda of: {name: imported(main) for name, main in of.benchmarks.items()},
}


class _OfRecord:
    """A role that a record plays."""

    def __init__(self, role: type[hooks.Role], record: Feature) -> None:
        self._role, self._record = role, record

    def __getattr__(self, name: str) -> Any:
        role, record = self._role, self._record
        at = f"{role.__name__}.{name}"
        if at in _PLACES:
            found = _PLACES[at](record)
        else:
            joined = record.joins.get(hooks.name_of(role), "") if issubclass(role, hooks.Joined) else ""
            module = joined or (getattr(record, _MODULES[role.__name__]) if role.__name__ in _MODULES else "")
            found = getattr(imported(module), name, None) if module.endswith(":") else None
        if found:
            return found
        default = getattr(role, name)
        return partial(default, self) if callable(default) else default

    @property
    def is_played(self) -> bool:
        """Whether the record has what the role requires."""
        wanted = [name for name, needed in hooks.names(self._role).items() if needed]
        return all(hasattr(self, name) and getattr(self, name) for name in wanted)


def _connect(of: Feature, reached: Any) -> None:
    for module, _, name in (each.partition(":") for each in of.reaches_files):
        vars(import_module(module))[name] = lambda *_: reached


def _with_records(role: type[R]) -> list[R]:
    found: list[Any] = []
    for each in FEATURES:
        if each.name in INSTALLED and not (FOLDER / each.name / "feature.py").exists():
            module = INSTALLED[each.name].get(hooks.name_of(role))
            found += [role(import_module(module))] if module else []
        elif (role is hooks.DealPage and not each.beside_deal) or (role is hooks.Entry and not each.wraps):
            continue
        elif (
            not issubclass(role, hooks.Joined)
            or role in (hooks.Accounts, hooks.Api)
            or hooks.name_of(role) in each.joins
        ):
            found.append(_OfRecord(role, each))
    return [each for each in found if not isinstance(each, _OfRecord) or each.is_played]


def _recorded(role: str) -> list[ModuleType]:
    places = {at.lower(): place for at, place in _MODULES.items()}
    found = [each.joins.get(role) or (getattr(each, places[role]) if role in places else "") for each in FEATURES]
    return [import_module(each.partition(":")[0]) for each in found if each]


def _names() -> list[str]:
    return [each.name for each in FEATURES]


def _files_of(feature: str, name: str) -> list[str]:
    if feature in INSTALLED:
        return [path for at, path in INSTALLED[feature].items() if at == name]
    record = next(each for each in FEATURES if each.name == feature)
    place = {"patterns.toml": "patterns", "templates/in-pages.html": "in_pages"}[name]
    own: str = getattr(record, place)
    return [f"../shared/{own}" if own and place == "patterns" else own] if own else []


def owns(feature: Feature, path: str) -> bool:
    """Whether a file is a feature's own."""
    return any(path == own or path.startswith(f"{own}/") or fnmatchcase(path, own) for own in feature.owns.split())


def of(place: str) -> Iterator[Any]:
    """Yield the values in a place of the installed features' records; an object is imported."""
    for feature in FEATURES:
        if found := getattr(feature, place):
            yield imported(found) if isinstance(found, str) and ":" in found else found


def parts(place: str, name: str) -> Iterator[Any]:
    """Yield the parts of that name of the modules in a place of the records; not every module has it.

    Raises LookupError for a name that no module in this place may have.
    """
    known = next(each.metadata["parts"] for each in fields(Feature) if each.name == place)
    if name not in known:
        raise LookupError(f"The modules in the place {place!r} have no part {name!r}, but {', '.join(known)}.")
    return (getattr(module, name) for module in of(place) if hasattr(module, name))


def merged(place: str, name: str = "") -> dict[Any, Any]:
    """Merge the mappings in a place of the records, or those of that name in the modules there."""
    return {key: each for found in (parts(place, name) if name else of(place)) for key, each in found.items()}


def paths(rule: str) -> tuple[str, ...]:
    """The paths of all features under a rule, such as ``private``."""
    return tuple(path for each in of("paths") for path in each.get(rule, ()))


def joining(name: str, place: str = "joins") -> Iterator[Any]:
    """The features' parts of a function's module, or of what else has that name in a place."""
    return (imported(each[name]) for each in of(place) if name in each)


def tabs() -> Mapping[str, list[tuple[str, str]]]:
    """The links of all features in each row of links."""
    return {
        row: [tab for each in of("tabs") for tab in each.get(row, ())] for row in ("lists", "sections", "desk", "mine")
    }


def imported(name: str) -> Any:
    """The object that a record calls ``module:name``, or the module that it calls ``module:``."""
    module, _, own = name.partition(":")
    return getattr(import_module(module), own) if own else import_module(module)


def call(place: str, *arguments: Any) -> None:
    """Call the functions in a place of the installed features' records."""
    for function in of(place):
        function(*arguments)
