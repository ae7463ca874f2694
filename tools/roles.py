"""Compare features' modules with their roles: ``make types`` runs mypy this way.

mypy can't tell that a module plays a role of ``shared/hooks.py``, since nothing says so but its name. So a module is
written for it, in ``build/``, that assigns each name of such a module to the role's attribute::

    features_polls_pages_Editing: hooks.Editing
    features_polls_pages_Editing.in_form = features.polls.pages.in_form
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator

from shared import hooks
from tools import folders
from tools.folders import ROOT

FIT = ROOT / "build" / "types" / "features_fit.py"


def lines() -> Iterator[str]:
    """The lines of the module that mypy reads."""
    yield '# mypy: disable-error-code="method-assign"\nfrom shared import hooks'
    for module, roles in folders.modules().items():
        names = folders.defined(module).keys()
        for role in roles:
            own = f"{module.replace('.', '_')}_{role.__name__}"
            yield f"import {module}\n{own}: hooks.{role.__name__}"
            yield from (f"{own}.{name} = {module}.{name}" for name in sorted(names & hooks.names(role)))


if __name__ == "__main__":
    FIT.parent.mkdir(parents=True, exist_ok=True)
    FIT.write_text("\n".join(lines()) + "\n", encoding="utf-8")
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["packages"]
    # "pretty" shows an error's line, which names the feature's module.
    mypy = [sys.executable, "-m", "mypy", "--pretty", *(f"-p={each}" for each in packages), "-m", FIT.stem]
    settings = {"MYPYPATH": str(FIT.parent), "MYPY_FORCE_TERMINAL_WIDTH": "200"}
    sys.exit(subprocess.call(mypy, cwd=ROOT, env={**os.environ, **settings}))
