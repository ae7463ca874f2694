"""``python -m benchmarks [pages] [fan_out] [starts] [invocations] [html] [operations] [cost] [rush]``, or all."""

from __future__ import annotations

import sys

from benchmarks import fan_out, history, html, invocations, pages, rush, starts


def _cost() -> None:
    from benchmarks import cost  # noqa: PLC0415  # and the CDK with it, which the others should not feel

    cost.main()


ALL = {
    "pages": pages.main,
    "fan_out": fan_out.main,
    "starts": starts.main,
    "invocations": invocations.main,
    "html": html.main,
    "operations": history.main,
    "cost": _cost,
    "rush": rush.main,
}

for name in sys.argv[1:] or ALL:
    ALL[name]()
