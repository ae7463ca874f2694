"""The modeller's function, and its rights: scratch partitions, and the count of units of a network's requests."""

from __future__ import annotations

from features.scratch.keys import COUNTERS
from infra.rights import Access, Right
from infra.rows import Function
from shared.data import partitions as p
from shared.dynamodb.schema import GSI1, TTL_ATTRIBUTE

MODELLER: Access = (
    Right("GetItem", (p.SCRATCH,)),
    Right("Query", (p.SCRATCH,)),
    Right("Query", (p.SCRATCH,), GSI1),
    *(
        Right(write, (p.SCRATCH,))
        for write in ("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem", "PartiQLInsert")
    ),
    Right("UpdateItem", (COUNTERS,), attributes=("Type", "Attempts", TTL_ATTRIBUTE)),
)
"""Only stages that show their work have this function. It reads nothing of the site, and writes partitions of a run."""

FUNCTIONS = (Function(name="modeller", access=MODELLER, pages="/model", shows_work=True),)
