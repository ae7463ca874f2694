"""Hot deals."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from shared.data import keys
from shared.data.catalog import deals, picks
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import put
from shared.http import requests
from shared.http.requests import DONE
from shared.models.catalog import FRONT_PAGE, Deal, Status
from shared.values import times
from tests.signed_in.conftest import PostDeal, _site, editor, entered, post_deal, table  # noqa: F401  # fixtures
from tests.support.browser import Visit
from tests.support.browsing import Browser, Seen
from tests.support.preview import Preview
from tests.support.preview import entered as token_of


def test_making_hot_says_first_who_will_be_notified(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    deal, over = post_deal(), post_deal()
    deals.withdraw(table, over.deal_id, times.now())
    entered(table, "ana")

    asked = editor.get(f"/desk/deals/{deal.number}/hot")
    before = deals.get(table, deal.deal_id).hot_at
    made = editor.post(f"/desk/deals/{deal.number}/hot")
    progress = editor.get(made.location)
    refused, sent = editor.get(f"/desk/deals/{over.number}/hot"), editor.post(f"/desk/deals/{over.number}/hot")

    assert "2 readers will get a message" in asked.words
    assert "Messages 2 Write units 4, two for each message" in asked.words
    assert "less than $0.0001, at $1.25 for each million readers" in asked.words
    assert before is None
    assert deals.get(table, deal.deal_id).hot_at is not None
    assert "0 members notified so far, of about 2." in progress.words
    assert "All members are being notified." in progress.words
    assert ("can’t notify anyone" in refused.words, sent.status) == (True, 409)
    assert f'<a class="button" href="/desk/deals/{over.number}">To the deal</a>' in refused.text


@pytest.mark.parametrize(
    ("readers", "counted", "told", "costs"),
    [
        (999, "999 readers", "999 Write units 1,998, two", "$0.0012"),
        (1000, "1,000 readers", "1,000 Write units 2,000, two", "$0.0012"),
        (1001, "More than 1,000 readers", "more than 1,000 Write units more than 2,000, two", "more than $0.0012"),
    ],
)
def test_making_hot_says_whether_there_are_more_readers_than_are_counted_and_what_they_cost_at_least(
    editor: Browser, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch, readers: int, counted: str, told: str,
    costs: str,
) -> None:  # fmt: skip
    monkeypatch.setattr(users, "count", lambda _, most: min(readers, most))

    words = editor.get(f"/desk/deals/{post_deal().number}/hot").words

    assert f" {counted} will get a message" in words
    assert f"Messages {told}" in words
    assert f"Cost {costs}, at $1.25 for each million readers" in words


def bar(seen: Seen) -> tuple[str | None, str | None]:
    """The value and the maximum of a page's bar; neither where it is not known."""
    (element,) = seen.document.iter("progress")
    return element.get("value"), element.get("max")


@pytest.fixture
def hot(table: Table, post_deal: PostDeal) -> Callable[..., Deal]:
    """A hot deal of which the first of four parts of all readers are told, each part its readers in two cohorts."""

    def told(parts: int = 0, readers: int = 2, **unfinished: int) -> Deal:
        deal = post_deal(title="Hot runner")
        deals.make_hot(table, deal.deal_id, times.now())
        counts = [{"Told": readers, "Pages": 2, "LastPage": 2}] * parts + ([unfinished] if unfinished else [])
        for segment, count in enumerate(counts):
            item = {**keys.fan_out_segment(deal.deal_id, segment), "Type": keys.FAN_OUT, "Segments": 4, **count}
            item["LastAt"] = times.to_iso(times.now())
            table.write(put(item, because="nobody else writes it"))
        return deal

    return told


@pytest.mark.parametrize(
    ("readers", "parts", "unfinished", "reached", "said"),
    [
        (3, 1, {}, ("2", "3"), "2 members notified so far, of about 3."),
        (4, 0, {}, (None, None), "0 members notified so far, of more than 3."),
        (4, 0, {"Told": 1, "Pages": 1}, (None, None), "1 member notified so far, of more than 3."),
        (4, 1, {"Told": 1, "Pages": 1}, ("1", "4"),
         "3 members notified so far, of more than 3. 1 of 4 parts of the list finished."),
        (4, 2, {}, ("2", "4"), "4 members notified so far. 2 of 4 parts of the list finished."),
        (4, 4, {}, ("1", "1"), "8 members notified."),
    ],
    ids=["all are counted", "nobody", "some", "a part", "more than were counted", "everyone"],
)  # fmt: skip
def test_the_bar_shows_how_many_are_notified_or_of_more_readers_than_are_counted_the_parts(
    editor: Browser, table: Table, hot: Callable[..., Deal], monkeypatch: pytest.MonkeyPatch, readers: int, parts: int,
    unfinished: dict[str, int], reached: tuple[str, str], said: str,
) -> None:  # fmt: skip
    monkeypatch.setattr("features.desk.desk.MOST_COUNTED", 3)
    for name in ("ana", "bo", "cleo")[: readers - 1]:  # the editor is a reader, too
        entered(table, name)
    deal = hot(parts, **unfinished)

    path = f"/desk/deals/{deal.number}/hot/progress"

    page, on_the_desk, for_script = editor.get(path), editor.get("/desk"), editor.get(path, Accept="application/json")

    told = for_script.json
    assert said in page.words
    assert ([each.text for each in page.document.iter("h1")], said) == ([told["heading"]], told["sentence"])
    assert reached == ((str(told["reached"]), str(told["most"])) if told["most"] else (None, None))
    assert told["finished"] == (parts == 4)
    assert ("about" in page.words.partition("Hot since")[0]) == (readers == 3)
    assert bar(page) == bar(on_the_desk) == reached
    lists = ["Notifications sent", "Notifications being sent"]
    assert [each in on_the_desk.words for each in lists] == [parts == 4, parts != 4]


def test_progress_looks_again_without_script_until_everyone_is_notified(
    editor: Browser, hot: Callable[..., Deal]
) -> None:
    """It looks at the address without ``notice``: the notice of the form is shown once."""
    path, over = (f"/desk/deals/{deal.number}/hot/progress" for deal in (hot(), hot(4)))
    editor.cookies[requests.name(DONE)] = "hot"

    seen, at_the_end = (editor.get(f"{each}?notice=hot") for each in (path, over))

    assert f'<noscript><meta http-equiv="refresh" content="10; url={path}"></noscript>' in seen.text
    assert f'href="{path}">Look again</a>' in seen.text
    assert "Refresh" not in seen.headers  # which a browser with script would follow, too
    assert "All members are notified" in at_the_end.words
    assert [each in at_the_end.text for each in ("being notified", "Look again", "refresh")] == [False] * 3


def test_the_desk_shows_the_progress_of_a_hot_deal(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    """Of about how many, and how fast: members notified by the seconds since it became hot."""
    now, deal = times.now(), post_deal()
    for name in ("ana", "bo", "cleo", "dan", "eve"):
        entered(table, name)
    deals.make_hot(table, deal.deal_id, now - timedelta(seconds=2))
    segment = {**keys.fan_out_segment(deal.deal_id, 0), "Type": keys.FAN_OUT, "Segments": 1, "Pages": 1}
    segment["LastAt"] = times.to_iso(times.now())
    seen = [editor.get("/desk").words]

    for told in ({"Told": 4}, {"Told": 6, "LastPage": 1}):
        table.write(put({**segment, **told, "LastAt": times.to_iso(now)}, because="nobody else writes it"))
        seen.append(editor.get("/desk").words)

    before, during, after = seen
    assert "0 of about 6 notified" in before
    assert "a second" not in before
    assert "4 of about 6 notified 2 a second" in during
    assert "6 notified, all members 3 a second" in after


def test_the_desk_follows_a_hot_deal_that_is_not_among_the_newest(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("features.desk.desk.SHOWN", 2)
    now = times.now()
    picked = post_deal(30, title="Picked and hot")
    ending = post_deal(20, title="Ending and hot", ends_at=now + timedelta(hours=1))
    post_deal(10)
    post_deal(5)
    for deal in (picked, ending):
        deals.make_hot(table, deal.deal_id, now)
    picks.set_featured(table, FRONT_PAGE, [picked.deal_id], now)

    words = editor.get("/desk").words

    told = words.partition("Notifications")[2].partition("today and tomorrow")[0]
    assert "among the 2 newest deals, those ending and the front page’s" in told
    assert "Picked and hot" in told
    assert "Ending and hot" in told


def test_a_page_of_progress_follows_in_place(visit: Visit, site: Preview) -> None:
    """The keyboard stays where it is, and the page says one thing at a time."""
    deal = next(deal for deal in site.deals if deal.status(times.now()) is Status.ACTIVE)
    hot = deals.make_hot(site.table, deal.deal_id, times.now())
    page = visit(f"/desk/deals/{deal.number}/hot/progress?notice=hot", token=token_of(site, "eddy", "editor"))
    url = site.origin.replace("http:", "https:")
    page.context.add_cookies([{"name": requests.name(DONE), "value": "hot", "url": url, "secure": True}])
    page.reload()
    expect(page.locator(".notice")).to_have_text("All members are being notified.")
    page.get_by_role("link", name="To the deal").focus()
    page.evaluate("document.body.dataset.same = 'page'")
    segment = {**keys.fan_out_segment(hot.deal_id, 0), "Type": keys.FAN_OUT, "Segments": 1, "Pages": 1}
    segment["LastAt"] = times.to_iso(times.now())

    site.table.write(put({**segment, "Told": 1}, because="nobody else writes it"))
    expect(page.locator("[data-says=sentence]")).to_have_text("1 member notified so far, of about 1.")
    expect(page.locator("progress")).to_have_attribute("value", "1")
    site.table.write(put({**segment, "Told": 1, "LastPage": 1}, because="nobody else writes it"))

    expect(page.get_by_role("heading", level=1)).to_have_text("All members are notified")
    expect(page).to_have_title(re.compile("^All members are notified · "))
    expect(page.locator(".notice")).to_have_count(0)
    expect(page.locator("body[data-same]")).to_have_count(1)
    expect(page.get_by_role("link", name="To the deal")).to_be_focused()
