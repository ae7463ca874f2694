"""Why a field is refused, in words that the API, the site's forms and ``btd`` share."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_SHOULD = re.compile(r"\A\w+ should ")
_REASONS = {"missing": "must be given", "extra_forbidden": "must not be given: there is no such field"}


def reason(entry: Mapping[str, Any]) -> str:
    """The fault of a field, from one of pydantic's errors: its "Input should be" is "must be"."""
    return _REASONS.get(entry["type"]) or _SHOULD.sub("must ", str(entry["msg"]).removeprefix("Value error, "))
