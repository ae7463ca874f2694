"""What functions may do with saved deals."""

from __future__ import annotations

from features.saved.data.keys import SAVED
from infra.rights import Right
from shared.data import partitions as p

_SAVED = (p.of(SAVED),)

MORE = {
    "mine": tuple(Right(each, _SAVED) for each in ("GetItem", "PutItem", "DeleteItem", "Query")),
    **dict.fromkeys(("accounts", "account", "remover"), (Right("DeleteItem", _SAVED), Right("Query", _SAVED))),
}
