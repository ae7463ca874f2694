"""The page functions, as tests of pages for someone who is signed in call them."""

from __future__ import annotations

from tests.signed_in.conftest import ana, anyone, editor, post_deal, sell, shown, table

__all__ = ["ana", "anyone", "editor", "post_deal", "sell", "shown", "table"]
