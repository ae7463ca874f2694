"""What members type is theirs: no export without ``--personal``, no log and no metric has it."""

from __future__ import annotations

import io
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlencode

import pytest
from typer.testing import CliRunner

from cli.main import app
from features.operations import exports
from functions.pages import site
from shared import features, hooks
from shared.data.members import messages
from shared.dynamodb.table import Table
from shared.values import times
from tests.cli.conftest import name_in_environment
from tests.signed_in.conftest import FUNCTIONS, table  # noqa: F401  # fixtures
from tests.support.browsing import Browser, Seen
from tests.support.factories import a_deal, post, send
from tests.support.rights import within_rights
from tests.support.surroundings import captured_log, hand_over

MARKER = "zebulon"
SECRET = f"correct {MARKER} staple"

REFUSED = ["/my/watches", "/account/sign-in with another's name", "/account/sign-up with a bad name"]
"""What is refused, and logged as well: the first looks for a brand that is not there."""


@pytest.fixture
def log(table: Table) -> Iterator[io.StringIO]:
    """What the functions log, metrics with it: they are in the same lines."""
    with captured_log() as lines:
        yield lines


@pytest.fixture
def browser(table: Table, monkeypatch: pytest.MonkeyPatch) -> Browser:
    hand_over(monkeypatch, table, site)
    return Browser({**FUNCTIONS, "/": within_rights(site)})


def forms(seen: Seen) -> Iterator[tuple[str, str, dict[str, str], set[str]]]:
    """The forms of a page that take text: the method, the path, the fields as they stand, and those one types in.

    Numbers are not typed as text, and a username is what the log calls its owner.
    """
    for form in seen.document.iter("form"):
        fields, typed = {}, set()
        joined = seen.document.findall(f".//*[@form='{form.get('id')}']")  # fields beside their form
        for each in (each for each in (*form.iter(), *joined) if each.tag in ("input", "textarea", "select")):
            name, kind = str(each.get("name")), each.get("type", "")
            fields[name] = each.get("value", "")
            if each.tag == "select":
                fields[name] = "HK" if name == "country" else next(each.iter("option")).get("value")
            elif kind not in ("hidden", "checkbox", "radio") and not each.get("inputmode") and name != "username":
                typed.add(name)
        if typed:
            yield form.get("method", "get"), form.get("action").partition("#")[0], fields, typed


def type_everywhere(browser: Browser, path: str) -> dict[str, int]:
    """Type the marker into each field of each form of a page, and send them; returns the statuses, by their paths."""
    statuses = {}
    for method, action, fields, typed in forms(browser.get(path)):
        values = dict.fromkeys(typed, MARKER) | {name: SECRET for name in typed if "password" in name}
        if "email" in typed:
            values["email"] = f"{MARKER}-{path.count('/')}@mail.example"
        sent = fields | {"username": "ana"} | values
        seen = browser.post(action, sent) if method == "post" else browser.get(f"{action}?{urlencode(values)}")
        statuses[action] = seen.status
    return statuses


def exported(folder: Path, *options: str) -> str:
    """All that ``btd export`` writes, as SQL."""
    result = CliRunner().invoke(app, ["export", str(folder), *options])
    assert result.exit_code == 0, result.output
    with closing(sqlite3.connect(folder / exports.FILE)) as database:
        return "\n".join(database.iterdump()).lower()


def test_what_a_member_types_is_in_no_export_log_or_metric(
    table: Table, browser: Browser, log: io.StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the pages of an account, and on those that features add to it."""
    (deal,) = post(table, [a_deal(times.now())])
    statuses = type_everywhere(browser, "/account/sign-up")
    browser.post("/my/watches/brand/apple", {"on": "1"})
    of_features = [path for each in features.roles(hooks.Navigation) for path, _ in each.TABS.get("mine", ())]
    for path in ("/account", "/my/watches", *of_features):
        statuses |= type_everywhere(browser, path)
    about = messages.of_deal(deal, "words", None, MARKER, f"{MARKER} lamp")
    send(table, messages.compose(about, "ana"))
    for path, fields in {
        "/my/alerts": {"words": MARKER},
        "/account/sign-in with another's name": {"username": MARKER, "password": MARKER},
        "/account/sign-up with a bad name": {"username": f"{MARKER}#", "email": MARKER},
    }.items():
        statuses[path] = browser.post(path.partition(" ")[0], fields).status

    name_in_environment(monkeypatch, table)
    whole, impersonal = exported(tmp_path / "whole", "--personal"), exported(tmp_path / "impersonal")

    rows = re.findall(r'^insert into "(\w+)" values(.*)$', whole, re.MULTILINE)
    kept = {kind for kind, values in rows if MARKER in values}
    assert kept >= {"user", "useremail", "brandwatch", "message", "wordsalert"}
    assert set(statuses.values()) == {200, 303, 404, 422}
    assert [action for action, status in statuses.items() if status >= 400] == REFUSED
    assert log.getvalue().count('"message":"request"') > len(statuses)
    assert MARKER not in log.getvalue().lower()
    assert MARKER not in impersonal
