"""Each recipe of the documents, done to the letter on a copy of the tree: alone, and after the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from local.settings import ROOT
from tests.recipes.conftest import COUNTS_WHAT_THERE_IS, RECIPES, RELEASES
from tests.support import recipes
from tests.support.engines import DYNOXIDE_ENGINE
from tests.support.recipes import NewFile, NoRecipe


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.needs("shop", "mail")
def test_a_recipe_leans_on_no_other(tmp_path: Path, name: str) -> None:
    recipe, tree = RECIPES[name], recipes.copy_of_tree(tmp_path)
    for earlier in RELEASES[: RELEASES.index(name)] if name in RELEASES else ():
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
def test_what_grew_by_all_recipes_is_in_order_and_its_lists_and_figures_are_right(grown: Path) -> None:
    new = [step.path for recipe in RECIPES.values() for step in recipe if isinstance(step, NewFile)]
    tests = [*COUNTS_WHAT_THERE_IS, *(path for path in new if path.startswith("tests/data/"))]

    recipes.run(grown, "make style")
    recipes.run(grown, f".venv/bin/pytest -q -m 'not thorough' {' '.join(tests)}")


CLICK = """.venv/bin/python -c '
from cli.commands import open_table
from features.clicks.data import clicks
table = open_table()
clicks.count(table, "one")
print(clicks.of(table, ["one"])["one"])'"""


def test_each_release_of_a_split_reads_what_its_neighbours_count(tmp_path: Path) -> None:
    trees = [recipes.copy_of_tree(tmp_path / str(done)) for done in range(1 + len(RELEASES))]
    for done, tree in enumerate(trees):
        for release in RELEASES[:done]:
            recipes.apply(RECIPES[release], tree)
    (moved,) = recipes.commands(RECIPES[RELEASES[-1]], deployed=True)

    with DYNOXIDE_ENGINE.bare_table() as table:
        place = {
            "BTD_TABLE": table.name,
            "AWS_ENDPOINT_URL": str(table.client.meta.endpoint_url),
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        # Each is deployed, and taken back.
        read = [recipes.run(trees[done], CLICK, **place) for done in (0, 1, 0, 2, 1)]
        recipes.run(trees[3], moved, **place)
        read += [recipes.run(trees[done], CLICK, **place) for done in (3, 2)]

    assert [int(each) for each in read] == list(range(1, 8))


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
