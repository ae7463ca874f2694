"""The recipes of the documents, and a copy of the tree on which all of them were done."""

from __future__ import annotations

from pathlib import Path

import pytest

from local.settings import ROOT
from tests.support import recipes
from tests.support.cases import cases

ROUTE = "Add a route in five steps"
HEADINGS = (
    "A new attribute",
    "A new choice",
    "A new feature",
    "A new entity without a relation",
    "A new index that existing items need attributes for",
    "A new page",
    "A new background function",
)

RECIPES = {
    ROUTE: recipes.steps(ROOT / "CONTRIBUTING.md", ROUTE),
    **{heading: recipes.steps(ROOT / "docs" / "growing.md", heading) for heading in HEADINGS},
    **{heading: recipes.steps(ROOT / path, heading) for path, headings in cases("RECIPES") for heading in headings},
}
"""In the order in which they are done together: a recipe of several releases is several, each after the one before."""

RELEASES = [headings for _, headings in cases("RECIPES")]
"""Recipes of several releases, which features have."""

COUNTS_WHAT_THERE_IS = (
    "tests/data/test_keys.py",
    "tests/data/test_entities.py",
    "tests/data/test_costs.py::test_a_posted_deal_takes_the_write_units_that_the_document_says",
    "tests/pages/test_lists.py::test_each_list_takes_what_the_document_says",
    "tests/api/test_writing.py::test_a_deal_is_posted_with_all_its_fields",
    "tests/infra/test_stack.py::test_the_clock_invokes_its_functions_each_minute_and_repeats_none_that_failed",
    "tests/test_docs.py",
    "tests/test_workbench.py",
)
"""Tests that compare the tree with a list or a figure, which a recipe changes with the code."""


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
