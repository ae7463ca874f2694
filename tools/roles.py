"""Compare features' modules with their roles: ``make types`` runs mypy this way.

mypy can't tell that a module plays a role of ``shared/hooks.py``, since nothing says so but its name. So a module is
written for it, in ``build/``, that assigns each name of such a module to the role's attribute::

    features_polls_pages_Desk: hooks.Desk
    features_polls_pages_Desk.in_form = features.polls.pages.in_form
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from itertools import chain

from shared import hooks
from tools import folders
from tools.folders import ROOT

FIT = ROOT / "build" / "types" / "features_fit.py"


def lines() -> Iterator[tuple[str, str]]:
    """The lines of the module that mypy reads, each with its subject."""
    yield '# mypy: disable-error-code="method-assign"', ""
    yield "from shared import hooks", ""
    for role, file in folders.modules():
        module = file.removesuffix(".py").replace("/", ".")
        yield f"import {module}", file
        own = f"{module.replace('.', '_')}_{role.__name__}"
        yield f"{own}: hooks.{role.__name__}", file
        for name in sorted(folders.defined(file).keys() & hooks.names(role)):
            yield f"{own}.{name} = {module}.{name}", f"{file}: {name}"


def main() -> int:
    """Write the module, and run mypy on it and on the project's packages. Returns mypy's exit code."""
    texts, abouts = zip(*lines(), strict=True)
    FIT.parent.mkdir(parents=True, exist_ok=True)
    FIT.write_text("\n".join(texts) + "\n", encoding="utf-8")
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]
    packages = chain.from_iterable(("-p", each) for each in settings["packages"])
    mypy = [sys.executable, "-m", "mypy", *packages, "-m", FIT.stem]
    environment = {**os.environ, "MYPYPATH": str(FIT.parent)}
    done = subprocess.run(mypy, check=False, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)
    named = rf"{re.escape(FIT.relative_to(ROOT).as_posix())}:(\d+)"
    print(re.sub(named, lambda found: abouts[int(found[1]) - 1], done.stdout), end="")
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
