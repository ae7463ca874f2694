"""The table browser's function, its rights to the table, and all functions' rights to traces."""

from __future__ import annotations

from itertools import chain

from features.workings import items
from features.workings.data import COUNTED
from infra.rights import ACCOUNT_OF_SESSION, Access, Right, Scan
from infra.rows import Function
from shared.data import partitions as p
from shared.dynamodb.schema import INDEXES, KEYS, Index


def _drawing(index: Index | None) -> Access:
    """The rights to draw collections of the table or an index: whole items, or people's visible attributes."""
    name = index.name if index else None
    personal = p.PERSONAL.get(name, ())
    whole = tuple(each for each in p.VISIBLE.get(name, ()) if each not in personal)
    return (
        *([Right("Query", whole, index)] if whole else []),
        *([Right("Query", personal, index, attributes=(*KEYS, *p.SHOWN_ATTRIBUTES))] if personal else []),
    )


COLLECTIONS: Access = (
    # Of sessions it reads only the one whose token it gets: GetItem names a whole key.
    Right("GetItem", (p.SESSION,)),
    Right("GetItem", (p.USER,), attributes=ACCOUNT_OF_SESSION),
    *chain.from_iterable(map(_drawing, (None, *INDEXES))),
    Scan(COUNTED),
)
"""Only stages that show their work have this function. It shows item collections, but no password, session, address or
email address: of items of people it can read only certain attributes.

To recognize an editor, it reads the session whose token it gets, and three attributes of its account. To count the
items of each type, it scans all keys and types.
"""

FUNCTIONS = (Function(name="collections", access=COLLECTIONS, pages="/table", shows_work=True),)


_TRACES = p.of(items.TRACE)


def any_function(row: Function) -> Access:
    """A function's rights to traces, on a stage that shows its work."""
    keeps = [Right("PutItem", (_TRACES,))] if row.traced else []
    reads = [Right("Query", (_TRACES,))] if row.pages is not None and row.access else []
    return (*keeps, *reads)
