"""``python -m benchmarks [pages] [fan_out] [starts] [invocations] [operations] [cost] [rush]``: all, or those named."""

from __future__ import annotations

import sys

from benchmarks import fan_out, history, invocations, pages, rush, starts


def _cost() -> None:
    from benchmarks import cost  # noqa: PLC0415  # and the CDK with it, which the others should not feel

    cost.main()


ALL = {
    "pages": pages.main,
    "fan_out": fan_out.main,
    "starts": starts.main,
    "invocations": invocations.main,
    "operations": history.main,
    "cost": _cost,
    "rush": rush.main,
}

for name in sys.argv[1:] or ALL:
    ALL[name]()
