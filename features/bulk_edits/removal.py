"""How an account's bulk edits are removed: each with its note."""

from __future__ import annotations

from features.bulk_edits.data import remove_some
from features.bulk_edits.keys import BULK_EDIT

REMOVERS = {BULK_EDIT: remove_some}
