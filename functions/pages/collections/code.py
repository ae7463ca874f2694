"""The code of the data layer and of what is below it: requests of pages come from there, and lessons link to it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from shared.errors import NoSuchPath
from shared.html import cookies, pages
from shared.html.app import Routes
from shared.html.pages import Answer
from shared.html.request import Request

SHOWN = ("shared.data.", "shared.dynamodb.")
"""The modules whose code is shown."""

LONGEST = 100
"""Characters of a module's name."""

routes = Routes()


@routes.get("/table/code/<module>")
def code(request: Request, module: str) -> Answer:
    """The source of a module of these, line by line."""
    cookies.admit(request)
    # Python imports a module's packages one inside the other, as deep as its name says.
    ours = module.startswith(SHOWN) and len(module) <= LONGEST and module.replace(".", "").isidentifier()
    try:
        found = importlib.util.find_spec(module) if ours else None
    except ModuleNotFoundError:
        found = None
    if found is None or found.origin is None:
        raise NoSuchPath
    lines = Path(found.origin).read_text(encoding="utf-8").splitlines()
    path = f"{module.replace('.', '/')}.py"
    return pages.page("collections/code.html", here=request.path, module=module, path=path, lines=lines)
