"""``python -m benchmarks [pages] [fan_out] [starts] [invocations]``: all of them, or those named."""

from __future__ import annotations

import sys

from benchmarks import fan_out, pages, starts

ALL = {"pages": pages.main, "fan_out": fan_out.main, "starts": starts.main}

for name in sys.argv[1:] or ALL:
    ALL[name]()
