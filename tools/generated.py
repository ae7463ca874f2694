"""Files that are made from others: ``make format`` writes them again, and so do the tests where features have changed.

README's table of features tells for which features they were made. A folder of features that was deleted or added is
told from there, and the files follow, so that ``rm -r features/NAME && make test`` needs no other step.
"""

from __future__ import annotations

import re
import subprocess
import sys

from tools import documents, links

MODULES = ("tools.links", "tools.openapi", "tools.workbench")
"""Modules that write such a file when they are run, in this order: the model for Workbench reads the documents."""


def made_for() -> set[str]:
    """The features that README's table names."""
    readme = (documents.ROOT / "README.md").read_text(encoding="utf-8")
    return {name for table in links.FEATURES.findall(readme) for name in re.findall(r"\(features/(\w+)\)", table)}


def write() -> None:
    """Write all of them, each in a process of its own; ends the program if one can't be written."""
    for module in MODULES:
        command = [sys.executable, "-m", "tools.folders", module]
        if subprocess.run(command, cwd=documents.ROOT, check=False).returncode:
            sys.exit(1)


def main(arguments: list[str]) -> None:
    """Write the files; with ``--if-features-changed``, only where the features are others than README names."""
    if arguments != ["--if-features-changed"]:
        write()
    elif made_for() != {*documents.of_features()}:
        print("The features have changed: writing the generated files again.")
        write()


if __name__ == "__main__":
    main(sys.argv[1:])
