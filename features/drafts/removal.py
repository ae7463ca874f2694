"""How an account's drafts are removed: each with the note of its time."""

from __future__ import annotations

from features.drafts.data import remove_some
from features.drafts.keys import DRAFT

REMOVERS = {DRAFT: remove_some}
