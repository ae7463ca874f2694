"""``python -m benchmarks [fan_out] [starts] [invocations] [operations] [search] [browser]
[storage] [cost]``, and those of features."""

from __future__ import annotations

import sys

from benchmarks import browser, functions, growth, search, storage
from shared import features, hooks


def _cost() -> None:
    from benchmarks import cost  # noqa: PLC0415  # it loads the CDK, which the others do not need

    cost.main()


ALL = {
    "fan_out": growth.over_readers,
    "starts": functions.starts,
    "invocations": functions.invocations,
    "operations": growth.over_years,
    "search": search.main,
    "browser": browser.main,
    "storage": storage.main,
    "cost": _cost,
    **features.merged(hooks.Benchmarks, lambda each: each.BENCHMARKS),
}

for name in sys.argv[1:] or ALL:
    ALL[name]()
