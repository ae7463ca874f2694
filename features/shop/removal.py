"""The removal of a member's orders. Those that were sent stay as sales."""

from __future__ import annotations

from features.shop.data import steps
from features.shop.data.keys import ORDER

REMOVERS = {ORDER: steps.close_some}
