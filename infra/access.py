"""What each function may do with the table. A function that needs more says so here, in one line."""

from __future__ import annotations

from infra.table import Access
from shared.data.schema import GSI1, GSI2, GSI3, USER_INDEX

_WRITES = ("PutItem", "UpdateItem", "DeleteItem", "ConditionCheckItem")

STOREFRONT = Access(items=("GetItem", "BatchGetItem"), query=True, queried=(GSI1, GSI2, GSI3))
AUTHORIZER = Access(items=("GetItem",))
ACCOUNTS = Access(items=("GetItem", "BatchGetItem", *_WRITES), query=True, queried=(GSI1,))
MEMBERS = Access(items=("GetItem", "BatchGetItem", *_WRITES), query=True, queried=(GSI1,))
EDITORS = Access(items=("GetItem", "BatchGetItem", *_WRITES), query=True)
SEED = Access(items=("GetItem", "PutItem"))
EXPIRY = Access(items=("GetItem", "BatchGetItem", *_WRITES), query=True)
ANNOUNCER = Access()
MESSENGER = Access(items=("GetItem", *_WRITES), query=True, scanned=(USER_INDEX,), inserts=True)
REFRESHER = Access(items=("GetItem", "BatchGetItem", "PutItem", "UpdateItem"), queried=(GSI1, GSI3))
