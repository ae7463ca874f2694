"""Traces: their keys, their types and the rows of these types (``workings.py`` keeps and finds traces)."""

from __future__ import annotations

from shared.data.entity import Entity, at, named
from shared.data.keys import Item, Text

TRACE = "Trace"
"""The cost of a form, on stages that show their work. DynamoDB deletes it after ten minutes."""

TRACE_STEP = "TraceStep"
"""The work of a function of the stream or the queue on a write."""

trace = Item[str]("TRACE#{trace_id}")
"""The cost of a form, under an unguessable id."""
trace_steps = Text[str]("TRACE#{partition}")
"""The work of the stream's functions that followed from writes to a partition."""
trace_step = Item[str, str, str](PK="TRACE#{partition}", SK="STEP#{function}#{record}")
"""A function's work on one record of the stream, or on one message of the queue."""

ENTITIES = {
    "Workings": (
        Entity(TRACE, at(trace(named("TraceId")), "what a form took"), needs="Drawing", expires=True),
        Entity(
            TRACE_STEP,
            at(trace_step(named("Partition"), named("Function"), named("Record"))),
            needs="Drawing Failed",
            expires=True,
        ),
    )
}
"""By the groups of types."""
