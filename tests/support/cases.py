"""Cases that features add to tests of the whole, from ``features/NAME/tests/cases.py``.

Such a test names no feature: it asks for the cases of a name and adds them to its own. ``NAMES`` lists the names.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from shared import features

NAMES: Mapping[str, str] = {
    "ASKED": "pages that the demo answers as the laptop does: who asks (``member``, ``editor``, or empty), and a path",
    "IN_THE_TAB": "what a reader does in the demo's tab: functions of the tab, which shows a deal, and the deal's path",
    "TRIED": "forms that the demo sends without a network: their page, their button, and what is there then",
    "IN_FIREFOX": "what is done in Firefox without a network: functions of the tab, which shows a member's inbox",
    "UNORDERED": "those of them that show items in an order that depends on the engine",
    "IMPORTS": "heavy libraries that a function of the feature imports when it starts, by the function's name",
    "ROOMS": "modules that a function of the feature is made of, besides its own, by the function's name",
    "PICTURED": "pages in pictures of the documents, as an editor sees them: the path by a deal, by the picture's name",
    "PICTURED_PARTS": "parts of a brand's page in those pictures: whether a member sees it, and what takes the picture",
    "PICTURED_OF_MEMBERS": "pages in pictures of a feature's own folder, as a member sees them: the path, by the file",
    "PICTURED_OF_EDITORS": "the same, as an editor sees them",
    "ONE_READ": "members' pages that make one request of their own",
    "TRACED": "pages whose each request has a pattern and a function, with a deal's ``{number}``",
    "TRACED_FORMS": "by name, a function of a browser, a table and a deal that returns a form's path and fields, the "
    "units that its transactions take, and its writes' verbs",
    "TRACED_OF_EDITORS": "the same of an editor's forms",
    "COLLECTIONS": "functions of a table, a deal and a username: what is kept, as partition key, index and item type",
    "LEADS": "the same: a partition key that leads to another key in an index",
    "PERSONAL": "attributes of a user that the table's browser names and doesn't show",
    "SECRETS": "texts of people that no page of the table's browser shows",
    "NOT_TYPED": "commands in the feature's document that no test types, or how they begin, each with the reason",
    "HAPPENS": "what happens in a table, besides what Workbench's model shows: functions of a table and a deal",
    "OWNS": "functions that give a member something of the feature, for a table, a deal, a username and a time",
    "RELEASES": "functions that finish what holds a member's account, for a table and a username",
    "OF_PEOPLE": "models of what is kept of people, each with its item type if that states what it hides",
    "HAPPENS_TO": "functions that leave something of the feature beside a deal, for a table and the deal",
    "AT_THE_GATEWAY": "what is asked of a deployed site: functions of the site, an editor and a brand's slug",
    "USES": "what members do with the feature, for each right once: functions of the site, two members and deals' ids",
    "FILLS": "functions that leave something of the feature in the site that is looked at: a table, deals and a time",
    "DEFERRED": "a button's path, its form, the page after it, and whether it did it, for a table and a deal",
    "MEMBERS_PAGES": "pages of members",
    "MEMBERS_LISTS": "those of them that go on by a cursor",
    "EDITORS_PAGES": "pages of editors",
    "EDITORS_PAGES_OF_SOMETHING": "pages of editors about something that isn't there",
    "ERRORS_OF_AN_ID": "errors whose own text names an id, which a page's text must not",
    "TAKES_DEALS": "where else a deal's form is sent",
    "FORM_PAGES": "by the path of a form, the path of its page",
    "EVERYONES": "a page of each kind that is everyone's, by name",
    "MEMBERS": "the same, of Ana, who has something of each feature",
    "KNOWN": "what stands for the names in braces of such paths: functions of the table",
    "EDITORS": "the same of an editor, of a deal (``first``) and of what Ana has",
    "KNOWN_OF_DEAL": "what else stands for such names in the forms of ``FORMS``: functions of a deal",
    "FILLS_ANAS": "functions that give Ana more, whose pages all hold something: a table, and two deals",
    "EMPTY": "pages of someone who has nothing yet",
    "FORMS": "other states of pages, by name: refused forms, and what forms answer",
    "TABBED": "names of those that have a row of tabs of the feature's own",
    "BUDGETS": "what pages of those may weigh, by their names",
    "SHIFTED_OF_EDITORS": "names of those of editors whose parts are looked at whether they move",
    "BUDGETED": "names of those that are weighed in every tier",
    "COUNTS_IN_HEAD": "counts at the head of a page: the name, the number or nothing, and what is shown",
    "IN_HEAD": "links at the head of a member's pages, between the inbox and the account",
    "IN_EDITORS_HEAD": "links before those, at the head of an editor's pages",
    "COMMANDS": "by the name of a pattern, a command and its requests",
    "PUBLIC_FUNCTIONS": "functions that anyone calls and that start fast",
    "SITE_PAGES": "public pages with what each says while there are no deals",
    "BESIDE": "the operations that a deal's page does for the feature, each once",
    "OF_NO_HEADER": "paths of public texts that no header of a request changes",
    "COSTS": "the requests of a public page and its round trips, by path",
    "GOLDEN": "the keys, spelled once more: a function, its arguments, and what it returns",
    "CHECKS": "functions of a table's items and a time, which return the faults (``shared/data/invariants.py``)",
    "REPAIRS": "functions of a table and a fault, which return whether they have repaired it",
    "BACKFILLS": "commands that rewrite existing deals in the form of this release",
    "AFTER_WORK": "commands in a feature's document that are typed when the functions have no work left",
    "DAMAGES": "by name, the rule that finds a damage, and the write that does it, for a deal of a table lived in",
    "STREAMED": "the names of rules of what the stream's functions write",
    "LOST": "by name, the rule that finds it, whether it can be derived, and the items without it",
    "LATE": "by name, what a member may ask, for a table, a deal and the account's id",
    "UNDOES": "by a name of those, the name of what it undoes",
    "LISTED_BY": "by item type, functions that read items among others, for a table",
    "READ_BY": "by item type, a function that makes what reads one item by itself, for a table",
    "RIGHTS": "operations, a partition key, an index or nothing, and the functions that may do one of them there",
    "ATTRIBUTES": "a partition key, an attribute, and the functions that may write it there",
    "IMPERSONAL": "functions that see of an account nothing personal",
    "SCAN_NAMES": "functions that scan the names of users",
    "PRIVATE": "attributes of users that only few functions may see",
    "MODELS": "modules of models whose fields are attributes",
    "FOR_EDITORS": "routes for editors of functions that serve members, too",
    "UNSAYABLE": "by path, fields for which a value may be refused that fits their schema",
    "RIGHT_BODIES": "bodies that their routes take, by the routes' paths",
    "OWN_NAMES": "paths with a name that is the member's to choose, and of which no key is made",
    "TYPED": "requests with something that is not to be logged: method, path, body, and the logged route",
    "ASKS_IF_ODD": "by name, a function by which an editor posts or edits a deal of these fields, and may be asked",
    "DAMAGED_DEALS": "by name, attributes of a deal that no code writes, in DynamoDB's form",
    "UNUSED": "functions with an operation that the local cloud never needs of them",
    "ELSEWHERE": "requests to other services than the table's: a function, a service and an operation",
    "REPORTERS": "functions of the core that report a metric of the core for the feature, by the metric's name",
    "NOT_IN_SAMPLE": "item types of which Workbench's sample has none",
    "ATTRIBUTES_SHOWN": "attributes of items of people that the table's browser may read",
    "NOT_LOADED": "modules that no public function loads",
    "OPEN_WRITES": "paths of routes to which anyone may post",
    "PUBLIC": "what the function of the API's public routes reads: indexes or nothing, with patterns of partitions",
    "OPTIONS": "the feature's settings in the stage that has everything",
    "KEPT": "the logical ids in that stage of what holds data or an address, as 1.1.0 has them",
    "WATCHED": "settings that add an alarm or tell of it: the stage whose alarms are tested has them",
    "BOUNDS": "the bounds of the feature's alarms, by kind",
    "ESSENTIAL": "the kinds of those that each watched stage has",
    "RING_IN_SILENCE": "the kinds whose metric always reports, so that silence is bad",
    "RELEASE_WRITES": "functions that write something of the feature beside what a release writes, for a table",
    "RELEASE_CHANGES": "functions that change that, whichever release wrote it",
    "RELEASE_READS": "functions that read it: what users see, by the name of where they see it",
    "RECIPES": "the document and the headings of recipes that are done one after the other",
    "OPERATED": "documents of operations, whose commands are typed on a whole cloud",
    "PROVEN": "by the claim's id, the result of its proof on the local cloud, and a part of what it found",
    "DEAD_WORK": "work that is sent again as it is: the outputs of its dead-letter queue and its queue, and a message",
    "COLUMNS": "by item type, columns of an export with their types",
    "QUERIED": "by the title of an example query, its rows on the first morning of Workbench's model; for Athena, an "
    "item in DynamoDB's form and the query's rows of it",
    "RING_BELOW": "the kinds that ring when too little happens",
}

OF_WRITES: Mapping[str, str] = {
    "WRITES": "by name, each action that writes, once: a function of a process of ``tests/interleave``",
    "BEFORE_WRITES": "functions of a process that leave in its table what such actions begin with",
    "PENDING_WRITES": "the same as ``WRITES``, of actions that begin while the stream, a queue or the clock has work",
    "LEFT_PENDING": "functions of a process that leave such work",
    "DAMAGED_WRITES": "the same, of actions that repair what was damaged by hand beside such work",
    "LEFT_DAMAGED": "functions of a process that damage it",
    "AROUND_WRITES": "what surrounds a run of such actions, such as to empty what a process remembers",
    "WRITES_DIFFER": "by the names of two of them, or of one with ``crash``, a difference that the documents name",
    "REFUSED_WRITES": "names of errors by which they say that another one was faster",
    "HARMLESS_WRITES": "by item type, why an item may be there although what wrote it was refused",
    "WRITES_ONCE_FAILED": "pairs of names of them that once left something else than one after the other",
    "WRITES_COMPARED": "pairs of names of them of which all schedules are tried",
    "DONT_WRITE_IN_ACTIONS": "by name, a function that writes, but in none of them, with the reason",
}
"""Those of ``tests/interleave``, which features have in ``features/NAME/tests/writes.py``."""


def cases(name: str) -> list[Any]:
    """All features' cases of a name, in the order of their folders. Raises LookupError for an unknown name."""
    return [each for found in _found(name) for each in found]


def cases_by_name(name: str) -> dict[Any, Any]:
    """The same, where each feature has a mapping."""
    return {key: value for found in _found(name) for key, value in found.items()}


def _found(name: str) -> list[Any]:
    own = "writes" if name in OF_WRITES else "cases"
    if name not in {**NAMES, **OF_WRITES}:
        raise LookupError(f"There are no cases named {name!r}, but {', '.join([*NAMES, *OF_WRITES])}.")
    folders = [file.parent.parent.name for file in sorted(features.FOLDER.glob(f"*/tests/{own}.py"))]
    modules = [import_module(f"features.{folder}.tests.{own}") for folder in folders]
    return [getattr(module, name) for module in modules if hasattr(module, name)]
