"""The releases that split the counter of clicks, as README.md has them, each beside the one before."""

from __future__ import annotations

from pathlib import Path

from features.clicks.tests.cases import RECIPES
from local.settings import ROOT
from tests.support import recipes
from tests.support.engines import DYNOXIDE_ENGINE

CLICK = """.venv/bin/python -c '
from cli.commands import open_table
from features.clicks.data import clicks
table = open_table()
clicks.count(table, "one")
print(clicks.of(table, ["one"])["one"])'"""


def test_each_release_of_a_split_reads_what_its_neighbours_count(tmp_path: Path) -> None:
    ((path, headings),) = RECIPES
    steps = [recipes.steps(ROOT / path, heading) for heading in headings]
    trees = [recipes.copy_of_tree(tmp_path / str(done)) for done in range(1 + len(steps))]
    for done, tree in enumerate(trees):
        for release in steps[:done]:
            recipes.apply(release, tree)
    (moved,) = recipes.commands(steps[-1], deployed=True)

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
