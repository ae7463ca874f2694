"""The textbook's function, and its rights."""

from __future__ import annotations

from features.scratch.keys import COUNTERS
from infra.rights import Access, Right
from infra.rows import Function
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, GSI2, GSI3, TTL_ATTRIBUTE

LEARN: Access = (
    *(Right(read, (*p.OPEN[None], p.SCRATCH)) for read in ("GetItem", "BatchGetItem", "Query")),
    *(Right("Query", (*p.OPEN[index.name], p.SCRATCH), index) for index in (GSI1, GSI2, GSI3)),
    *(
        Right(write, (p.SCRATCH,))
        for write in ("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "BatchWriteItem", "PartiQLInsert")
    ),
    Right("UpdateItem", (COUNTERS,), attributes=("Type", "Attempts", TTL_ATTRIBUTE)),
)
"""Only stages that show their work have this function. It reads the public catalog, writes scratch partitions, and
counts the units of a network's runs. It is separate because the function of ``/table`` writes nothing, and this one
reads no session."""

FUNCTIONS = (Function(name="learn", access=LEARN, pages="/learn", shows_work=True),)
