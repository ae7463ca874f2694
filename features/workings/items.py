"""The item types of stages that show their work: traces of forms, and the work of the stream's functions.

The table's rows use this module (``shared/data/entities.py``), so it doesn't import them.
"""

from __future__ import annotations

from shared.data import keys
from shared.data.entity import Entity, at, named

TRACE = "Trace"
"""A form's cost. DynamoDB deletes it after ten minutes."""

TRACE_STEP = "TraceStep"
"""The work of a function of the stream or the queue after a write."""

trace = keys.Item[str]("TRACE#{trace_id}")
"""A form's trace, under an unguessable id."""
trace_steps = keys.Text[str]("TRACE#{partition}")
"""The work of the stream's functions after writes to a partition."""
trace_step = keys.Item[str, str, str](PK="TRACE#{partition}", SK="STEP#{function}#{record}")
"""A function's work on one stream record or queue message."""

ENTITIES = {
    "Workings": (
        Entity(TRACE, at(trace(named("TraceId")), "the cost of a form"), needs="Drawing", expires=True),
        Entity(
            TRACE_STEP,
            at(trace_step(named("Partition"), named("Function"), named("Record"))),
            needs="Drawing Failed",
            expires=True,
        ),
    )
}
"""By the groups of types."""
