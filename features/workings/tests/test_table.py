"""The browser of the table: what it draws, what it names with a reason instead, and what bad keys get."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from features.workings import collections, drawings
from features.workings import data as workings
from shared.data import keys, partitions
from shared.dynamodb.attributes import unmarshal_items
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.html.pages import printed
from shared.models.catalog import Deal
from shared.values import times
from tests.signed_in.conftest import entered
from tests.support.browsing import Browser, Seen
from tests.support.cases import cases
from tests.support.factories import a_message, send
from tests.support.rights import within_rights

PostDeal = Callable[..., Deal]

pytestmark = pytest.mark.usefixtures("shown")


@pytest.fixture
def laptop(monkeypatch: pytest.MonkeyPatch) -> Browser:
    """The browser of someone who is not signed in, on the laptop."""
    monkeypatch.setenv("STAGE", "local")
    return Browser({"/table": within_rights(collections)})


def path(partition: str, index: str | None = None, **more: str) -> str:
    return f"/table?{urlencode({'partition': partition, **({'index': index} if index else {}), **more})}"


def sort_keys(seen: Seen) -> list[str]:
    """Those of the items that a page draws."""
    drawn = [each for each in seen.document.iter("section") if each.get("class") == "book"]
    return ["".join(th.itertext()) for each in drawn for th in each.iter("th") if th.get("scope") == "row"]


def leads(seen: Seen) -> set[str]:
    """The collections and charts that a page leads to."""
    return {to for each in seen.document.iter("a") if (to := str(each.get("href"))).startswith("/table?")}


def test_an_index_is_drawn_one_row_an_item_with_what_reading_it_takes(laptop: Browser, post_deal: PostDeal) -> None:
    found = [post_deal(minutes, title=f"Runner {minutes}") for minutes in range(1, 4)]
    day = f"{found[0].created_at:%Y-%m-%d}"
    partition = f"CATEGORY#shoes#{day}T00:00:00"

    seen = laptop.get(path(partition, "GSI3"))

    assert sort_keys(seen) == [f"DEAL#{deal.deal_id}" for deal in found]
    assert re.search(
        r"3 items, \d\.\d KB: reading them takes one Query and 0\.5 RRU, \$0\.06 per million ?\. It serves pattern 8,",
        seen.words,
    )
    assert "Runner 2" in seen.words
    assert path(keys.deal(found[1].deal_id)["PK"]) in leads(seen)
    assert path(f"DEALS#{day}T00:00:00", "GSI1") in leads(seen)


@pytest.mark.parametrize(("index", "forward"), [(None, True), ("GSI1", False)])
@pytest.mark.damages
def test_twenty_items_are_a_screen_and_the_next_ones_follow(
    laptop: Browser, table: Table, index: str | None, forward: bool
) -> None:
    wanted = [f"MESSAGE#{number:02}" for number in range(45)]
    for key in [*wanted, "ANOTHER"]:
        place = {"GSI1PK": "MESSAGES#ana", "GSI1SK": key}
        table.write(put({"PK": "MESSAGES#ana", "SK": key, **place}, because="a test's own"))
    found = []
    following: str | None = path("MESSAGES#ana", index, sort="MESSAGE#")

    while following:
        seen = laptop.get(following)
        found.append(sort_keys(seen))
        following = next((a.get("href") for a in seen.document.iter("a") if a.text == "Next"), None)

    assert [len(screen) for screen in found] == [20, 20, 5]
    assert [key for screen in found for key in screen] == (wanted if forward else wanted[::-1])


def test_users_and_what_features_keep_are_shown_without_what_is_personal(
    laptop: Browser, table: Table, post_deal: PostDeal
) -> None:
    entered(table, "bea")
    places = [
        (keys.user("bea")["PK"], None, "User"),
        (keys.user("bea")["PK"], "UserIndex", "User"),
        (keys.account("bea")["PK"], None, "Account"),
        *(each for collections in cases("COLLECTIONS") for each in collections(table, post_deal(), "bea")),
    ]

    for partition, index, type_ in places:
        seen = laptop.get(path(partition, index))

        assert type_ in [caption.text for caption in seen.document.iter("caption")], partition
    user = laptop.get(path(keys.user("bea")["PK"]))
    for attribute in ("a member's email address", *cases("PERSONAL")):
        assert f"not shown: {attribute}" in user.words


def test_no_collection_that_can_be_reached_shows_personal_data(
    laptop: Browser, table: Table, post_deal: PostDeal
) -> None:
    """All pages that the table leads to, of a member with a session, a password and something of each feature."""
    entered(table, "ana")
    for give in cases("OWNS"):
        give(table, post_deal(1), "ana", times.now())
    send(table, a_message(post_deal(2), "ana", now=times.now()))
    secret = {*cases("SECRETS"), "@mail.example", "no-hash", "ana".ljust(32, "-")}
    (ana,) = (
        item for item in unmarshal_items(table.client.scan(TableName=table.name)["Items"]) if item["Type"] == "Session"
    )
    secret |= {keys.id_in(ana["PK"]), ana["Generation"]}
    found, left = {}, ["/table"]

    while left:
        address = left.pop()
        found[address] = seen = laptop.get(address)
        assert seen.status == 200, address
        left += [each for each in leads(seen) if each not in found and each not in left]

    assert len(found) > 30
    assert {address for address, seen in found.items() if any(each in seen.text for each in secret)} == set()


@pytest.mark.parametrize(
    ("partition", "index"),
    [(key.replace("*", "x"), index) for index, hidden in partitions.HIDDEN.items() for key in hidden],
)
def test_what_may_not_be_shown_is_named_with_the_reason(laptop: Browser, partition: str, index: str | None) -> None:
    seen = laptop.get(path(partition, index))

    reasons = {key.replace("*", "x"): because for key, because in partitions.HIDDEN[index].items()}
    assert seen.status == 403
    assert printed(f"This collection is not shown: {reasons[partition]}.") in seen.words


def test_an_unknown_key_has_no_items_and_an_incomplete_one_is_shown_its_forms(laptop: Browser) -> None:
    seen = laptop.get(path("dealn"))
    unknown = laptop.get(path("INVOICE#1", "GSI1"))

    assert "No items have this key in the table. Enter a whole partition key" in seen.words
    assert "Partition keys with this prefix: DEALNUMBER#<Number> ." in seen.words
    assert "No items have this key in GSI1." in unknown.words
    assert (seen.status, unknown.status) == (200, 200)


@pytest.mark.parametrize(
    "asked",
    [path("DEAL#1", "GSI9"), path("x" * 2049), path("DEAL#1", sort="é" * 513), path("DEAL#\x001"),
     path("USER#ana", "UserIndex", sort="USER")],
)  # fmt: skip
def test_what_cannot_be_a_key_is_refused_in_a_sentence(laptop: Browser, asked: str) -> None:
    assert laptop.get(asked).status == 400


def test_counts_and_notes_lead_to_the_partitions_that_they_are_about(
    laptop: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal()
    entered(table, "bea")
    month, day = f"{deal.created_at:%Y-%m}-01T00:00:00", f"{deal.created_at:%Y-%m-%d}T00:00:00"

    assert path(f"DEALS#{day}", "GSI1") in leads(laptop.get(path("DEALS")))
    assert path(f"BRAND#apple#{month}", "GSI2") in leads(laptop.get(path("BRAND#apple")))
    assert path(f"CATEGORY#shoes#{day}", "GSI3") in leads(laptop.get(path("CATEGORY#shoes")))
    for found in cases("LEADS"):
        note, partition, index = found(table, deal, "bea")
        assert path(partition, index) in leads(laptop.get(path(note)))


def test_the_chart_counts_the_types_and_names_their_keys(laptop: Browser, table: Table, post_deal: PostDeal) -> None:
    deals = [post_deal(minutes) for minutes in range(3)]

    seen, index = laptop.get("/table"), laptop.get("/table?index=GSI3")

    assert re.search(r" Deal 3 DEAL#<DealId> same GSI1 GSI2 GSI3", seen.words)
    assert (
        "PASSWORD#<Username> same not shown: a password's hash is read only where passwords are checked" in seen.words
    )
    assert re.search(r" Deal 3 CATEGORY#<Category>#<Day> DEAL#<DealId> table GSI1 GSI2", index.words)
    assert "UserEmail" not in index.words
    assert any(path(keys.deal(deal.deal_id)["PK"]) in leads(seen) for deal in deals)


@pytest.mark.parametrize("is_whole", [True, False])
def test_the_chart_says_whether_all_was_counted(
    laptop: Browser, table: Table, monkeypatch: pytest.MonkeyPatch, is_whole: bool
) -> None:
    counts = dataclasses.replace(workings.count(table), is_whole=is_whole)
    monkeypatch.setattr(workings, "count", lambda _: counts)

    seen = laptop.get("/table").words

    assert (re.search(r"All \d+ items are of \d+ types\.", seen) is not None) == is_whole
    assert ("A Scan stopped after 4 MB, and counted" in seen) == (not is_whole)
    assert ("This isn’t a fair sample" in seen) == (not is_whole)


@pytest.mark.damages
def test_the_lines_to_copy_read_the_same_items(laptop: Browser, table: Table) -> None:
    """A name with each quote that a shell or a program knows."""
    partition = 'WORD#it\'s a "test" \\ of $quotes'
    for number in range(3):
        table.write(
            put({"PK": partition, "SK": f"DEAL#{number}", "GSI3PK": partition, "GSI3SK": "x"}, because="a test's own")
        )
    drawn = sort_keys(laptop.get(path(partition, sort="DEAL#")))

    aws, python, _ = (line["text"] for line in drawings.query_lines(table.name, partition, None, "DEAL#"))
    assert _by_aws_words(table, aws) == drawn == ["DEAL#0", "DEAL#1", "DEAL#2"]
    assert _by_python(python) == drawn


@pytest.mark.parametrize("path", ["/table", "/table?partition=DEALS", "/table/code/shared.data.keys"])
def test_elsewhere_the_table_is_for_editors(table: Table, path: str) -> None:
    member, nobody, editor = entered(table, "bo"), Browser({}), entered(table, "eve", "editor")
    for browser in (member, nobody, editor):
        browser.functions = {"/table": within_rights(collections)}

    assert member.get(path).status == 403
    assert nobody.get(path).status == 303
    assert editor.get(path).status in (200, 404)


def test_each_page_leads_to_the_table(ana: Browser) -> None:
    assert [a.text for a in ana.get("/my/watches").document.iter("a") if a.get("href") == "/table"] == ["The table"]


LONG = (f"shared.data{'.a' * 5000}", f"shared.data.{'a' * 5000}")
"""Names of modules that Python looks for without an end, and whose files no system can open."""


def test_the_code_of_the_data_layer_is_shown_and_no_other(laptop: Browser) -> None:
    seen = laptop.get("/table/code/shared.data.catalog.feeds")

    assert "def read(" in seen.words
    assert 'id="l1"' in seen.text
    assert laptop.get("/table/code/shared.dynamodb.writes").status == 200
    for module in ("os", "shared.settings", "shared.data..keys", "shared.data.nothing", "shared.data.a.b", *LONG):
        assert laptop.get(f"/table/code/{module}").status == 404


def _by_aws_words(table: Table, line: str) -> list[str]:
    """The sort keys that a line for the AWS CLI finds, taken apart as a shell and the CLI take it."""
    words = shlex.split(line.replace("\\\n", " "))
    assert words[:3] == ["aws", "dynamodb", "query"]
    options: dict[str, Any] = dict(zip(words[3::2], words[4::2], strict=True))
    found = table.client.query(
        TableName=options["--table-name"],
        KeyConditionExpression=options["--key-condition-expression"],
        ExpressionAttributeValues=json.loads(options["--expression-attribute-values"]),
    )
    return [item["SK"] for item in unmarshal_items(found["Items"])]


def _by_python(lines: str) -> list[str]:
    """The sort keys that a program finds; the environment says where the table is."""
    names: dict[str, Any] = {}
    exec(lines, names)  # our own lines
    return [item["SK"] for item in names["items"]]
