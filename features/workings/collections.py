"""The table browser: entities, item collections, the data layer's code, costs of forms and API requests, and a walk of
five steps on the laptop that follows a posted deal through the table and its stream.

Only stages that show their work have this function. On the laptop everyone may look, elsewhere only editors; a form's
cost is for everyone with its id. Its role can't read passwords, addresses or email addresses; of sessions, only the one
whose token it gets.
"""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby, takewhile
from pathlib import Path
from typing import Any

from features.workings import data as workings
from features.workings import drawings, panel
from features.workings.data import ItemCounts
from features.workings.page_cost import collection, is_visible
from features.workings.patterns import hidden_because, kind_of
from shared import features, hooks
from shared.data import keys
from shared.data.entities import ENTITIES, SCRATCH_ITEM
from shared.data.entity import Entity
from shared.data.partitions import PERSONAL, SHOWN_ATTRIBUTES, matches
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import INDEXES, KEYS, PARTITION_KEY, SORT_KEY, Index, key_names
from shared.dynamodb.table import Projection
from shared.errors import BadRequest, Forbidden, NoSuchPath, NotFound
from shared.html import cookies, pages
from shared.html.links import link
from shared.html.pages import Answer, Request, Routes, serve
from shared.http.requests import on_laptop
from shared.models.catalog import ALL_DEALS, CATEGORIES, CATEGORY, Topic
from shared.runtime.environment import table

ROWS = 20
"""Items of a collection on a page."""

LONGEST = {"partition": 2048, "sort": 1024}
"""The most bytes of a partition key and a sort key.
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html"""

_OF_PEOPLE = Projection.of(*KEYS, *SHOWN_ATTRIBUTES)

routes = Routes()


@dataclass(frozen=True, slots=True)
class _CollectionQuery:
    """A collection, or its items whose sort keys have a prefix and come after the last one shown."""

    partition: str
    index: Index | None
    beginning: str
    after: str

    @property
    def name(self) -> str | None:
        return self.index.name if self.index else None

    def address(self, **changed: str | None) -> str:
        query = {"partition": self.partition, "index": self.name, "sort": self.beginning or None}
        return link("/table", **(query | changed))


@routes.get("/table")
def browser(request: Request) -> Answer:
    """An item collection of the table or an index; without a partition key, the chart."""
    _require_laptop_or_editor(request)
    asked = _collection_query(request)
    known: dict[str, Any] = {
        "here": request.path,
        "partition": asked.partition,
        "index": asked.name,
        "beginning": asked.beginning,
        "tabs": _tabs(asked),
    }
    if not asked.partition:
        return pages.page("workings/templates/chart.html", **known, **_chart(asked.index, request))
    because = hidden_because(asked.partition, asked.name)
    if because:
        raise Forbidden(f"This collection is not shown: {because}.")
    # A key that matches no pattern isn't queried: the function's role doesn't allow it.
    is_known = is_visible(asked.partition, asked.name)
    items = _items(asked) if is_known else []
    if not items:
        return pages.page("workings/templates/nothing.html", **known, forms=[] if is_known else _forms(asked))
    rows, backward = items[:ROWS], asked.index is not None
    last = rows[-1].get(key_names(asked.index)[1] or "")
    return pages.page(
        "workings/templates/collection.html",
        **known,
        drawn=drawings.drawn(rows, request.now, index=asked.index),
        kind=kind_of(asked.partition, asked.name),
        whole=len(items) <= ROWS and not asked.beginning and not asked.after,
        after=asked.after,
        backward=backward,
        next=asked.address(after=str(last)) if len(items) > ROWS else "",
        lines=drawings.query_lines(table().name, asked.partition, asked.index, asked.beginning, backward=backward),
    )


def _require_laptop_or_editor(request: Request) -> None:
    """Require an editor, except on the laptop, for pages that show the table. They write nothing, not even that the
    session was used. Raises NotSignedIn, Forbidden."""
    if not on_laptop():
        cookies.editor_of(request, "The table is for editors.", notes_use=False)


def _collection_query(request: Request) -> _CollectionQuery:
    """The collection in a request's query. Raises BadRequest for an impossible key."""
    name = request.query.get("index")
    index = next((each for each in INDEXES if each.name == name), None)
    if name and index is None:
        raise BadRequest(f"There is no index {name!r}.", "index")
    texts = {field: request.query.get(field, "").strip() for field in ("partition", "sort", "after")}
    for field, text in texts.items():
        most = LONGEST["partition" if field == "partition" else "sort"]
        if not text.isprintable() or len(text.encode(errors="replace")) > most:
            raise BadRequest(f"That is not a key: a {field} key is text of at most {most:,} bytes.", field)
    if (texts["sort"] or texts["after"]) and index is not None and index.sort_key is None:
        raise BadRequest(f"{index.name} has no sort key.", "sort")
    return _CollectionQuery(texts["partition"], index, texts["sort"], texts["after"])


def _items(asked: _CollectionQuery) -> Sequence[Item]:
    """A page of items and one more, without people's private attributes."""
    is_personal = matches(asked.partition, PERSONAL.get(asked.name, ()))
    found = table().query(
        asked.partition,
        index=asked.index,
        after=asked.after or None,
        prefix=asked.beginning or None,
        newest_first=asked.index is not None,  # indexes are read like feeds
        limit=ROWS + 1,
        projection=_OF_PEOPLE if is_personal else None,
    )
    if not asked.after or not asked.beginning:
        return list(found)
    # A Query takes one condition on the sort key: after an item, the prefix is checked here.
    sort_key = key_names(asked.index)[1] or SORT_KEY
    return list(takewhile(lambda item: str(item[sort_key]).startswith(asked.beginning), found))


def _tabs(asked: _CollectionQuery) -> list[dict[str, Any]]:
    """The table and its indexes, each linked with the same partition if it may have it, else with its chart."""
    return [
        {
            "name": name or "Table",
            "keys": ", ".join(filter(None, key_names(index))),
            "projection": "all attributes" if index else "",
            "link": collection(asked.partition, name) or link("/table", index=name),
            "here": index == asked.index,
        }
        for index, name in ((None, None), *((each, each.name) for each in INDEXES))
    ]


def _chart(index: Index | None, request: Request) -> dict[str, Any]:
    name = index.name if index else None
    counts = _counts(int(request.now.timestamp() // 60))
    groups = []
    for group, entities in (*ENTITIES.items(), ("Scratch", (SCRATCH_ITEM,))):
        there = [entity for entity in entities if entity.at(index)]
        rows = [_entity(list(forms), index, counts) for _, forms in groupby(there, lambda entity: entity.type)]
        if rows:
            groups.append({"name": group, "rows": rows})
    return {
        "groups": groups,
        "items": f"{sum(number for (_, place), number in counts.counts.items() if place == name):,}",
        "is_whole": counts.is_whole,
        "types": len({type_ for type_, place in counts.counts if place == name}),
        "starts": _starts() if index is None else [],
    }


@lru_cache(maxsize=1)
def _counts(_minute: int) -> ItemCounts:
    """The counts of a minute, made once per execution environment."""
    return workings.count(table())


def _entity(forms: Sequence[Entity], index: Index | None, counts: ItemCounts) -> dict[str, Any]:
    """A row of the chart: an item type with each form of its key."""
    name, type_ = index.name if index else None, forms[0].type
    keys_ = list(dict.fromkeys(pair for form in forms for pair in form.at(index)))
    example = counts.examples.get((type_, name))
    found = str(example[key_names(index)[0]]) if example else ""
    return {
        "type": type_,
        "count": f"{counts.counts[type_, name]:,}",
        "keys": [{"partition": partition, "sort": "" if sort == partition else sort} for partition, sort in keys_],
        "elsewhere": [
            other.name if other else "table"
            for other in (None, *INDEXES)
            if other != index and any(form.at(other) for form in forms)
        ],
        "because": hidden_because(keys_[0][0], name),
        "link": collection(found, name) if found else "",
    }


def _forms(asked: _CollectionQuery) -> list[str]:
    """The key patterns that match an incomplete key."""
    typed = asked.partition.upper()
    found = {pair[0] for some in ENTITIES.values() for each in some for pair in each.at(asked.index)}
    return sorted(form for form in found if form.partition("<")[0].startswith(typed))


def _starts() -> list[dict[str, str]]:
    """Collections to start with."""
    named = {
        "The counts of all deals": keys.counts(ALL_DEALS),
        "All brands": keys.brands()[PARTITION_KEY],
        **features.merged(hooks.Items, lambda each: each.COLLECTIONS),
        **{name: keys.topic(Topic(CATEGORY, slug))[PARTITION_KEY] for slug, name in CATEGORIES.items()},
    }
    return [{"name": name, "link": collection(key, None)} for name, key in named.items()]


SHOWN = re.compile(r"shared\.(?:data|dynamodb)\.|features\.\w+\.(?:data|items)(?:\.|$)")
"""The modules whose code is shown."""

LONGEST_NAME = 100
"""Characters of a module's name."""


@routes.get("/table/code/<module>")
def code(request: Request, module: str) -> Answer:
    """A module's source, line by line."""
    _require_laptop_or_editor(request)
    # Python imports a module's packages recursively, as deep as the name says.
    ours = SHOWN.match(module) is not None and len(module) <= LONGEST_NAME and module.replace(".", "").isidentifier()
    try:
        found = importlib.util.find_spec(module) if ours else None
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        raise NoSuchPath
    lines = Path(found.origin).read_text(encoding="utf-8").splitlines()
    path = f"{module.replace('.', '/')}.py"
    return pages.page("workings/templates/code.html", here=request.path, module=module, path=path, lines=lines)


A_DEAL = {"link": "https://shop.example/trail-shoe", "title": "A trail shoe", "price": "59.90", "list": "89.90"}
"""The form values of the first step, by the names in its address."""


@routes.get("/table/took/<trace_id>")
def took(request: Request, trace_id: str) -> Answer:
    """The drawing stored under an id. The id can't be guessed, so it is the only permission needed."""
    drawn = panel.find(trace_id)
    if drawn is None:
        raise NotFound("This has expired: the cost of a form is stored for ten minutes.")
    return pages.page("workings/templates/took.html", here=request.path, form_cost=drawn)


@routes.get("/table/walk", "/table/walk/<trace_id>")
def walk(request: Request, trace_id: str = "") -> Answer:
    """The walk's steps, where a page has a form to post a deal. With the trace of a posted deal, the later steps link
    to that deal while the trace is kept."""
    edits = next((each.EDITS for each in features.roles(hooks.Navigation) if each.EDITS), "")
    if not on_laptop() or not edits:
        raise NoSuchPath
    drawn = panel.find(trace_id) or {"records": []}
    posted = next((record for record in drawn["records"] if record["type"] == keys.DEAL), None)
    found = (
        {
            "key": posted["key"],
            "took": link(f"/table/took/{trace_id}"),
            "collection": f"{posted['link']}&{panel.QUERY}={trace_id}",
            "edit": link(f"{edits}{keys.id_in(posted['partition'])}"),
        }
        if posted
        else None
    )
    return pages.page(
        "workings/templates/walk.html", here=request.path, form=link(f"{edits}new", **A_DEAL), posted=found
    )


handler = serve(routes)
