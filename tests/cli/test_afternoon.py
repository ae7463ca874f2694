"""The commands of ``docs/afternoon.md`` are typed one after the other, and do what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from shared.data.members import users
from shared.dynamodb.table import Table
from tests.cli.conftest import Btd
from tests.support.factories import a_user

ROOT = Path(__file__).resolve().parent.parent.parent
AFTERNOON = (ROOT / "docs" / "afternoon.md").read_text(encoding="utf-8")
COMMANDS = [
    line
    for block in re.findall(r"```sh\n(.*?)```", AFTERNOON, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("btd ")
]


def test_each_command_of_the_afternoon_does_what_it_says(table: Table, btd: Btd) -> None:
    users.create(table, a_user("member"))

    for line in COMMANDS:
        _, *arguments = shlex.split(line)
        btd(*arguments)

    assert len(COMMANDS) > 10
