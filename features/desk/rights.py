"""The function of the desk, and what it may do."""

from __future__ import annotations

from infra.rights import AUTHORIZER, COUNTING, Access, Right, Scan
from infra.rows import FULL, Function
from shared.data import partitions as p
from shared.dynamodb.schema import USER_INDEX
from shared.runtime.metrics import DEALS_POSTED

DESK: Access = (
    *AUTHORIZER,
    Right("GetItem", (p.DEAL, p.DEAL_NUMBER, p.BRANDS, p.SHOP, p.IDEMPOTENCY, *p.TOPICS, *p.CURATED)),
    Right("BatchGetItem", (p.DEAL, p.DEALS, p.WORDS, *p.TOPICS)),
    Right("PutItem", (p.DEAL, p.DEAL_NUMBER, p.DEAL_SOURCE, p.BRAND_ITEM, p.ENDINGS_OF_DAYS, p.IDEMPOTENCY)),
    Right("UpdateItem", (p.DEAL, p.SEQUENCES, p.DEALS, p.BRANDS, *p.CURATED)),
    Right("UpdateItem", p.TOPICS, attributes=p.COUNTS),
    Right("UpdateItem", (p.CATEGORY_ITEM,), attributes=p.PICKS),
    Right("DeleteItem", (p.ENDINGS_OF_DAYS, p.DEALS, *p.TOPICS)),
    Right("Query", (p.FAN_OUT, p.LOG, p.PRODUCT, p.ENDINGS_OF_DAYS, p.DEALS, p.WORD, p.WORDS, *p.TOPICS)),
    *COUNTING,
    Scan(("Username",), USER_INDEX),
)

FUNCTIONS = (Function(name="desk", access=DESK, artifact=FULL, pages="/desk", traced=True, reports=(DEALS_POSTED,)),)
