"""One command for each access pattern: what it answers, and which requests it says it made."""

from __future__ import annotations

import json

import pytest

from cli.output import show_json
from shared.data.catalog import deals, search, selecting, topics
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.models.catalog import Deal
from shared.values import times
from tests.cli.conftest import Ask, Btd
from tests.support.cases import cases_by_name
from tests.support.factories import a_deal, a_message, a_user, indexed, send


@pytest.fixture
def posted(table: Table) -> list[Deal]:
    """Twelve deals of Apple's, a minute apart, the newest first, and a user Ana with a message of the newest."""
    topics.create_brand(table, "apple", "Apple", times.now())
    minutes = [times.from_iso(f"2025-03-01T10:{minute:02}:00Z") for minute in range(12)]
    created = deals.create_many(table, [a_deal(minute) for minute in minutes], times.now())
    users.create(table, a_user("ana"))
    send(table, a_message(created[-1], "ana", "brand", times.now()))
    return created[::-1]


COUNTS = ["GetItem", "Query", "Query", "Query"]
"""The requests that tell which partitions of a feed hold deals: its counts, and notes of what ended since yesterday."""

FRESH = [*COUNTS, "Query GSI1", "GetItem"]

# What is typed, and what is asked of DynamoDB for it: operation, and index where it is not the table.
PATTERNS: dict[str, tuple[str, list[str]]] = {
    "Create a deal": (
        "deals create --title Shirt --link https://shop.example/1 --price 9.90 --brand Apple --category Clothing",
        ["GetItem", "UpdateItem", "TransactWriteItems"],
    ),
    "Create a brand": ("brands create G/Fore", ["TransactWriteItems"]),
    "Create the categories": ("seed", ["PutItem"] * 11),
    "Pick the front page's deals": ("pages feature front-page {deals}", ["BatchGetItem", "UpdateItem"]),
    "Pick the editor's choice": ("pages feature editors-choice {deals}", ["BatchGetItem", "UpdateItem"]),
    "Front page and latest deals, fresh": ("pages front-page --fresh", FRESH),
    "Front page and latest deals, without a copy": ("pages front-page", ["BatchGetItem", *FRESH]),
    "Front page and latest deals, latest": ("deals latest", [*COUNTS, "Query GSI1"]),
    "Category page and its latest deals": ("categories show shoes", ["GetItem", *COUNTS, "Query GSI3", "GetItem"]),
    "Category page and its latest deals, latest": ("deals latest --category shoes", [*COUNTS, "Query GSI3"]),
    "Editor's choice page": ("pages editors-choice --fresh", ["GetItem"]),
    "Latest deals of a brand": ("brands show APPLE", ["GetItem", *COUNTS, "Query GSI2", "GetItem"]),
    "Latest deals of a brand, latest": ("deals latest --brand apple", [*COUNTS, "Query GSI2"]),
    "All brands": ("brands list", ["GetItem"]),
    "One deal": ("deals show {deal}", ["GetItem"]),
    "One deal, by number": ("deals show 1", ["GetItem", "GetItem"]),
    "Create a user": (
        "users add bo --email bo@mail.example --name Bo --password correct-horse",
        ["Query", "TransactWriteItems"],
    ),
    "Like a brand, unlike it": ("brands like apple ana", ["TransactWriteItems", "GetItem"]),
    "Watch a brand, stop watching": ("brands watch apple ana", ["TransactWriteItems", "GetItem"]),
    "Like a category, unlike it": ("categories like shoes ana", ["TransactWriteItems", "GetItem"]),
    "Watch a category, stop watching": ("categories watch shoes ana", ["TransactWriteItems", "GetItem"]),
    "Cheapest deals of a category, between two prices": (
        "deals latest --category shoes --sort cheapest --from 10 --to 80 --currency USD",
        ["GetItem", "Query GSI3"],
    ),
    "Cheapest deals of a brand, also within a category": (
        "deals latest --brand apple --category shoes --sort cheapest --currency USD",
        ["GetItem", "GetItem", "Query GSI2"],
    ),
    "Biggest discounts of a category": (
        "deals latest --category shoes --sort discount --currency USD",
        ["GetItem", "Query GSI1"],
    ),
    "Messages of a user": ("messages list ana", ["Query"]),
    "Unread messages of a user": ("messages list ana --unread", ["Query GSI1"]),
    "Unread messages of a user, counted": ("messages unread-count ana", ["Query GSI1"]),
    "Mark a message read": ("messages read ana {message}", ["UpdateItem"]),
    "Mark a message read, all": ("messages read-all ana", ["Query", "TransactWriteItems"]),
    "Hot deal: message every user": ("deals hot {deal}", ["GetItem", "TransactWriteItems"]),
    "Hot deal: message every user, told": ("deals told {deal}", ["GetItem", "Query"]),
    "Sign in, authenticate, sign out, sign out everywhere": ("sessions start ana", ["GetItem", "TransactWriteItems"]),
    "Sign in, authenticate, sign out, sign out everywhere, everywhere": (
        "sessions end-all ana",
        ["Query GSI1", "GetItem", "UpdateItem"],
    ),
    "A member's likes and watches": ("me watches ana", ["Query GSI1", "GetItem"]),
    "A member's likes and watches, likes": ("me likes ana", ["Query GSI1", "GetItem"]),
    "Edit, expire or withdraw a deal, edit": ("deals edit {deal} --set price=1.00", ["GetItem", "TransactWriteItems"]),
    "Edit, expire or withdraw a deal, withdraw": (
        "deals withdraw {deal}",
        ["GetItem", "BatchGetItem", "TransactWriteItems"],
    ),
    "Edit, expire or withdraw a deal, by the clock": ("sweep", ["GetItem", "Query"]),
    "Alert on a product's price": ("alerts price ana {deal} 25", ["GetItem", "GetItem", "TransactWriteItems"]),
    "Alert on words": ("alerts words ana running", ["GetItem", "BatchGetItem", "TransactWriteItems"]),
    "A member's alerts": ("alerts list ana", ["Query", "GetItem"]),
    "the pace of hot deals": ("users tell-of-hot ana daily", ["UpdateItem"]),
    "roles": ("users grant-editor ana", ["UpdateItem", "GetItem"]),
    "everyone": ("users list", ["Scan UserIndex"]),
    **cases_by_name("COMMANDS"),
}


@pytest.mark.parametrize("pattern", PATTERNS)
def test_each_pattern_has_a_command_that_prints_its_requests(posted: list[Deal], ask: Ask, pattern: str) -> None:
    line, expected = PATTERNS[pattern]
    words = line.format(
        deal=posted[0].deal_id,
        deals=f"{posted[0].deal_id} {posted[1].deal_id}",
        message=a_message(posted[0]).message_id,
    )

    answer = ask(*words.split())

    made = [" ".join(filter(None, (request["operation"], request["index"]))) for request in answer["requests"]]
    if COUNTS[0] in expected and "Query" in expected:  # these go out at once, and are told as they come back
        assert sorted(made) == sorted(expected)
    else:
        assert made == expected
    assert all(request["keys"] for request in answer["requests"])
    told = [request for request in answer["requests"] if request["readUnits"] is not None]
    for unit in ("readUnits", "writeUnits"):
        assert answer["capacity"][unit] == sum(request[unit] for request in told)
    # A refusal tells no capacity: the seeds are there already.
    assert {request["operation"] for request in answer["requests"] if request not in told} <= {"PutItem"}


def test_a_command_prints_items_requests_keys_and_capacity(posted: list[Deal], btd: Btd) -> None:
    printed = btd("deals", "latest", "--brand", "apple", "--limit", "1").stdout

    assert posted[0].deal_id in printed
    assert "GSI2PK = BRAND#apple#2025-03-01T00:00:00" in printed
    assert "5 requests, 2.5 RRU consumed" in printed


def test_a_search_says_which_words_were_searched_and_how_many_deals_were_looked_through(
    posted: list[Deal], table: Table, btd: Btd, monkeypatch: pytest.MonkeyPatch
) -> None:
    for deal in posted:
        search.file(table, None, deal)
    whole = btd("deals", "search", "runner", "--sort", "cheapest").stdout
    monkeypatch.setattr(selecting, "MOST", 7)

    some = btd("deals", "search", "runenr", "--sort", "cheapest").stdout

    assert ("only of the newest" in whole, "searched:" in whole) == (False, False)
    assert "only of the newest 7 deals with these words" in some
    assert "searched: runner" in some


def test_pages_of_a_feed_follow_each_other_by_cursor(posted: list[Deal], ask: Ask) -> None:
    first = ask("deals", "latest", "--limit", "7")["result"]
    second = ask("deals", "latest", "--limit", "7", "--cursor", first["next"])["result"]

    assert [deal["dealId"] for deal in first["items"] + second["items"]] == [deal.deal_id for deal in posted]
    assert second["next"] is None


def test_a_list_marks_a_60_day_low_and_a_deal_says_what_its_price_is_judged_by(
    posted: list[Deal], table: Table, btd: Btd, ask: Ask
) -> None:
    newest, *_ = indexed(table, posted)

    listed = btd("deals", "latest", "--limit", "1").stdout
    shown = btd("deals", "show", str(newest.number)).stdout

    assert "active, 60-day low" in listed
    assert ask("deals", "show", str(newest.number))["result"]["verdict"]["cheapest"] == "31.90"
    assert "lowest yes, cheapest 31.90, cheapestOn 2025-03-01, usualFrom 31.90, usualTo 31.90" in shown


def test_likes_and_watches_are_listed_and_end(posted: list[Deal], ask: Ask) -> None:
    ask("brands", "like", "Apple", "Ana")
    ask("categories", "watch", "shoes", "ana")

    assert ask("me", "likes", "ana")["result"]["items"] == [{"kind": "brand", "brand": "apple"}]
    (watched,) = ask("me", "watches", "ana")["result"]["items"]
    assert (watched["category"], watched["limits"]["pace"]) == ("shoes", "at-once")
    assert ask("brands", "unlike", "apple", "ana")["result"]["likes"] == 0
    assert ask("categories", "unwatch", "shoes", "ana")["result"]["watchers"] == 0


def test_reading_a_message_shows_the_units_of_each_index(posted: list[Deal], ask: Ask) -> None:
    (message,) = ask("messages", "list", "ana", "--unread")["result"]["items"]

    (read,) = ask("messages", "read", "ana", message["messageId"])["requests"]

    assert set(read["byIndex"]) >= {"table", "GSI1"}
    assert read["writeUnits"] == sum(part["writeUnits"] for part in read["byIndex"].values())
    assert ask("messages", "list", "ana", "--unread")["result"]["items"] == []
    assert ask("messages", "list", "ana")["result"]["items"] == [{**message, "unread": False}]


def test_a_deal_is_edited_withdrawn_and_restored(posted: list[Deal], ask: Ask) -> None:
    number = str(posted[0].number)

    edited = ask("deals", "edit", number, "--set", "title=a=b", "--set", "price=5", "--unset", "listPrice")["result"]
    withdrawn = ask("deals", "withdraw", number)["result"]
    restored = ask("deals", "restore", number)["result"]

    assert (edited["title"], edited["price"], edited["listPrice"]) == ("a=b", "5.00", None)
    assert (withdrawn["status"], restored["status"]) == ("withdrawn", "active")
    assert ask("deals", "latest", "--limit", "1")["result"]["items"] == [restored]


def test_a_category_features_the_picked_deals_in_order(posted: list[Deal], ask: Ask) -> None:
    picks = [str(deal.number) for deal in posted[:5]]

    ask("categories", "feature", "shoes", *picks)

    featured = ask("categories", "show", "shoes")["result"]["featured"]
    assert [str(deal["dealNumber"]) for deal in featured] == picks


def test_a_session_is_shown_and_ended_by_its_token(
    posted: list[Deal], btd: Btd, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.members.secrets.token_bytes", lambda size: b"\xfb" * size)
    token = ask("sessions", "start", "ana")["result"]["token"]
    assert token.startswith("-")

    shown = json.loads(btd("sessions", "show", "-", "--json", stdin=f"{token}\n").stdout)["result"]
    ask("sessions", "end", token)
    refused = btd("sessions", "show", token, code=1)

    assert (shown["username"], shown["role"]) == ("ana", "member")
    assert "There is no valid session" in refused.stderr


def test_accounts_are_added_granted_revoked_and_removed(table: Table, btd: Btd, ask: Ask) -> None:
    words = ("users", "add", "Bo", "--email", "Bo@mail.example", "--name", "Bo", "--editor")
    btd(*words, "--password-stdin", stdin="correct horse\n")

    assert ask("users", "show", "bo")["result"]["role"] == "editor"
    assert ask("users", "revoke-editor", "bo")["result"]["role"] == "member"
    assert ask("users", "grant-editor", "bo")["result"]["role"] == "editor"
    assert [user["username"] for user in ask("users", "list")["result"]["items"]] == ["bo"]
    assert "is taken" in btd(*words, "--password", "correct horse", code=1).stderr
    btd("users", "remove", "bo", code=1, stdin="n\n")
    btd("users", "remove", "bo", "--yes")
    assert ask("users", "list")["result"]["items"] == []


def test_a_password_is_asked_for_twice(table: Table, btd: Btd, ask: Ask) -> None:
    btd("users", "add", "bo", "--email", "bo@mail.example", "--name", "Bo", stdin="correct horse\ncorrect horse\n")

    assert ask("users", "show", "bo")["result"]["username"] == "bo"


OF_NOBODY = (
    *("me watches nobody", "me likes nobody", "messages list nobody", "messages unread-count nobody"),
    *("messages read-all nobody", "sessions start nobody", "sessions end-all nobody", "users show nobody"),
    *("users remove nobody --yes", "users grant-editor nobody"),
)
REFUSED: dict[str, tuple[str, int, str]] = {
    "an unknown deal": ("deals show 4711", 1, "There is no deal '4711'."),
    "an unknown brand": ("deals latest --brand nobody", 1, "There is no brand 'nobody'."),
    "a forged cursor": ("deals latest --cursor abc", 1, "This cursor does not belong to this list."),
    "a brand without a slug": ("brands show ///", 1, "must have a letter or a digit"),
    "all deals by price": ("deals latest --sort cheapest", 1, "name a brand or a category"),
    "an order that is none": ("deals latest --brand apple --sort best", 1, "sort must be one of"),
    "a bad field": ("deals edit 1 --set price=-1", 1, "price: "),
    "a field nobody knows": ("deals edit 1 --set colour=red", 1, "colour: "),
    "a message that is not theirs": ("messages read ana 000000000000000000000000000", 1, "You have no message"),
    "a short password": ("users add bo --email b@mail.example --name Bo --password short", 1, "password: "),
    "a username that forges a key": ("brands like apple ana#bo", 2, "must be 1 to 30"),
    "a limit of 0": ("deals latest --limit 0", 2, "--limit"),
    "a limit that is no number": ("deals latest --limit many", 2, "--limit"),
    "a limit of 10^9": ("deals latest --limit 1000000000", 2, "--limit"),
    "an edit of nothing": ("deals edit 1", 2, "Name what to change"),
    "an assignment of nothing": ("deals edit 1 --set price", 2, "FIELD=VALUE"),
    "no such command": ("deals explode", 2, "No such command"),
    "a type that cannot be rewritten": ("backfill Wish", 2, "must be one of Deal"),
    **{command: (command, 1, "There is no user 'nobody'.") for command in OF_NOBODY},
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_ends_in_one_clear_line(table: Table, btd: Btd, case: str) -> None:
    line, code, expected = REFUSED[case]

    result = btd(*line.split(), code=code)

    assert expected in result.stderr
    assert "Traceback" not in result.output
    assert result.stderr.count("\n") == 1


def test_a_refused_request_is_shown_with_its_error(table: Table, btd: Btd) -> None:
    btd("brands", "create", "Apple")

    printed = btd("brands", "create", "APPLE", code=1)

    assert "TransactWriteItems (TransactionCanceledException)" in printed.stdout
    assert "Update BRANDS" in printed.stdout
    assert printed.stderr == "The brand 'apple' already exists.\n"


def test_leaving_a_page_without_deals_asks_first(table: Table, btd: Btd) -> None:
    refused = btd("pages", "feature", "front-page", code=1, stdin="n\n")

    assert "without deals?" in refused.stderr
    assert "request" not in refused.stdout
    assert "request" in btd("pages", "feature", "front-page", "--yes").stdout


def test_json_holds_nothing_that_a_terminal_obeys(capsys: pytest.CaptureFixture[str]) -> None:
    told = {"path": "/\x9b31m", "title": "caf\N{LATIN SMALL LETTER E WITH ACUTE} \u202e"}

    show_json(told)

    printed = capsys.readouterr().out
    assert json.loads(printed) == told
    assert all(character.isprintable() or character == "\n" for character in printed)
