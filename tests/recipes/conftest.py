"""The recipes of the documents, and a copy of the tree on which all of them were done."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.settings import ROOT
from tests.support import recipes

ROUTE = "Add a route in five steps"
HEADINGS = (
    "A new attribute",
    "A new entity in an existing item collection",
    "A new entity without a relation",
    "A new index that existing items need attributes for",
    "The first release reads both forms",
    "The second release writes the new form",
    "The third release drops the old form",
    "Moving items to other keys, while the site is running",
    "A new page",
    "A new background function",
    "A new alarm",
)

RECIPES = {
    ROUTE: recipes.steps(ROOT / "CONTRIBUTING.md", ROUTE),
    **{heading: recipes.steps(ROOT / "docs" / "growing.md", heading) for heading in HEADINGS},
}
"""In the order in which they are done together: a recipe of several releases is several, each after the one before."""

RELEASES = tuple(heading for heading in HEADINGS if " release " in heading)


@pytest.fixture(scope="session")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The copy, before anything was done to it."""
    return recipes.copy_of_tree(tmp_path_factory.mktemp("tree"))


@pytest.fixture(scope="session")
def grown(tree: Path) -> Path:
    """The copy with all recipes, and everything that is made of the code made anew."""
    for recipe in RECIPES.values():
        recipes.apply(recipe, tree)
    for command in dict.fromkeys(each for recipe in RECIPES.values() for each in recipes.commands(recipe)):
        if "pytest" not in command:
            recipes.run(tree, command)
    return tree
