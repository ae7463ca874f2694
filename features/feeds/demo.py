"""The import of a visitor's own feed, on a page of the demo alone."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import Any

PAGES = {"/import": "features.feeds.in_tab"}
LINKS = (("/import", "Import your feed"),)
PACKED = ("/import",)


def _prepare(_client: Any) -> None:
    from demo.stand_ins import real  # noqa: PLC0415  # tests of features have no demo

    real("xml", "html.parser")
    if sys.platform == "emscripten":
        os.environ["IJSON_BACKEND"] = "python"  # it would look for C libraries
        sys.modules["nh3"] = import_module("features.feeds.markup_in_tab")


PREPARES = {"features.feeds.in_tab": _prepare}
