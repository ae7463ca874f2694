"""Each recipe of the documents, done to the letter on a copy of the tree: alone, and after the others."""

from __future__ import annotations

import re
import shutil
from itertools import chain
from pathlib import Path

import pytest

from local.settings import ROOT
from tests.recipes.conftest import COUNTS_WHAT_THERE_IS, RECIPES, RELEASES
from tests.support import recipes
from tests.support.recipes import NewFile, NoRecipe


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_leans_on_no_other(tmp_path: Path, name: str) -> None:
    recipe, tree = RECIPES[name], recipes.copy_of_tree(tmp_path)
    before = [headings[: headings.index(name)] for headings in RELEASES if name in headings]
    for earlier in chain.from_iterable(before):
        recipes.apply(RECIPES[earlier], tree)

    recipes.apply(recipe, tree)

    python = [path for path in recipes.changed(recipe) if path.endswith(".py")]
    recipes.run(tree, f".venv/bin/ruff check --select F {' '.join(python)}")


def test_each_command_of_a_document_or_a_lesson_is_typed_or_says_why_not() -> None:
    """A document's commands are typed by the test that its list names, a feature's by its own tests, and no command
    hides in an indented block."""
    listed = {*recipes.AFTER_MAKE_RUN, *recipes.OPERATIONS, *recipes.OF_BTD, *recipes.RECIPES}
    listed |= {name for name in recipes.documents() if name.startswith("features/")}
    begins = r"^ {4}(?:make|aws|btd|git|npm|curl|[A-Z_]+=\S+|\.?[\w-]+/(?:[\w.-]+/)*[\w-]+) "

    commands = {each for name in recipes.documents() for each in recipes.shell_lines(name)}
    unlisted = {name: lines for name in recipes.documents() if name not in listed and (lines := recipes.typed(name))}
    hidden = [
        (name, line)
        for name in recipes.documents()
        for line in re.findall(begins, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        if name.endswith(".md") and name not in recipes.RECIPES
    ]

    assert unlisted == {}
    assert hidden == []
    assert [each for each in recipes.NOT_TYPED if not any(recipes.matches(each, line) for line in commands)] == []


@pytest.mark.thorough
def test_a_new_feature_is_one_folder_which_leaves_nothing_behind(tmp_path: Path) -> None:
    recipe, tree = RECIPES["A new feature"], recipes.copy_of_tree(tmp_path)
    before = contents(tree)

    recipes.apply(recipe, tree)
    assert {path.partition("/")[0] for path in recipes.changed(recipe)} == {"features"}
    assert not {*recipes.changed(recipe)} & {*before}
    for command in recipes.commands(recipe):
        recipes.run(tree, command)
    assert {path for path, text in contents(tree).items() if before.get(path) != text} > {*recipes.changed(recipe)}
    shutil.rmtree(tree / "features" / "comments")
    recipes.run(tree, "make format")

    assert contents(tree) == before


def contents(tree: Path) -> dict[str, bytes]:
    """The files of a copy of the tree, without those that are linked or cached."""
    linked = (".venv", "node_modules", "build")
    files = (file for file in tree.rglob("*") if file.is_file() and file.relative_to(tree).parts[0] not in linked)
    cached = ("__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
    return {
        str(file.relative_to(tree)): file.read_bytes()
        for file in files
        if not {*file.relative_to(tree).parts} & {*cached}
    }


@pytest.mark.thorough
def test_what_grew_by_all_recipes_is_in_order_and_its_lists_and_figures_are_right(grown: Path) -> None:
    new = [step.path for recipe in RECIPES.values() for step in recipe if isinstance(step, NewFile)]
    tests = [*COUNTS_WHAT_THERE_IS, *(path for path in new if path.startswith("tests/data/"))]

    recipes.run(grown, "make style")
    recipes.run(grown, f".venv/bin/pytest -q -m 'not thorough' {' '.join(tests)}")


GUIDE = """
# Guide

## A step

In `a.py`, after the line `{line}`:

```python
# two
```
"""


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [("one\n", "none", "0 times 'none'"), ("one\none\n", "one", "2 times 'one'")],
)
def test_a_step_whose_line_is_gone_or_not_the_only_one_fails(tmp_path: Path, text: str, line: str, said: str) -> None:
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "guide.md").write_text(GUIDE.format(line=line))

    with pytest.raises(NoRecipe, match=said):
        recipes.apply(recipes.steps(tmp_path / "guide.md", "A step"), tmp_path)


def test_a_block_that_no_step_explains_fails(tmp_path: Path) -> None:
    (tmp_path / "guide.md").write_text("## A step\n\nThen this:\n\n```python\n1\n```\n")

    with pytest.raises(NoRecipe, match="Then this:"):
        recipes.steps(tmp_path / "guide.md", "A step")
