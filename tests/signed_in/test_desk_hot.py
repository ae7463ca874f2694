"""Hot deals, and several deals at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from playwright.sync_api import expect

from functions.pages import desk
from shared.data import keys
from shared.data.catalog import deals, picks
from shared.data.members import users
from shared.dynamodb.table import Table
from shared.dynamodb.writes import delete, put
from shared.errors import NotFound
from shared.http.requests import DONE
from shared.models.catalog import EDITORS_CHOICE, FRONT_PAGE, Deal, Status
from shared.values import times
from tests.signed_in.conftest import PostDeal, entered
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
    monkeypatch.setattr("functions.pages.desk.MOST_COUNTED", 3)
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


def test_progress_looks_again_without_script_until_everyone_is_notified(
    editor: Browser, hot: Callable[..., Deal]
) -> None:
    """It looks at the address without ``notice``: the notice of the form is shown once."""
    path, over = (f"/desk/deals/{deal.number}/hot/progress" for deal in (hot(), hot(4)))
    editor.cookies[DONE] = "hot"

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
    monkeypatch.setattr("functions.pages.desk.SHOWN", 2)
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
    page.context.add_cookies([{"name": DONE, "value": "hot", "url": page.url}])
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


def ticked(*chosen: Deal | str, **fields: str) -> dict[str, str]:
    return {f"deal-{each.number if isinstance(each, Deal) else each}": "1" for each in chosen} | fields


def sent(editor: Browser, *chosen: Deal | str, **fields: str) -> Seen:
    """The page that the form leads to."""
    answer = editor.post("/desk/deals/together", ticked(*chosen, **fields))
    assert answer.status == 303, answer.words
    return editor.get(answer.location)


def now_is(table: Table, *some: Deal) -> list[Deal]:
    return deals.get_many(table, [deal.deal_id for deal in some], consistent=True)


def test_ticked_deals_are_ended_once_after_a_page_says_so(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    first, second, other = (post_deal(title=title) for title in ("One", "Two", "Three"))
    withdrawn = deals.withdraw(table, post_deal(title="Four").deal_id, times.now())
    assert f'name="deal-{first.number}"' in editor.get("/desk/deals").text

    asked = editor.get(f"/desk/deals/together?do=end&deal-{first.number}=1&deal-{second.number}=1")
    seen = sent(editor, first, second, withdrawn, "4711", do="end")
    ended = now_is(table, first, second)
    again = sent(editor, first, second, do="end")

    assert ("End 2 deals?" in asked.words, "One" in asked.words, "Three" in asked.words) == (True, True, False)
    assert "2 deals ended" in seen.words
    assert "It has ended or was withdrawn." in seen.words
    assert "There is no such deal." in seen.words
    assert "2 deals ended" in again.words
    assert now_is(table, first, second) == ended
    assert [deal.status(times.now()) for deal in (*ended, *now_is(table, other))] == [Status.EXPIRED] * 2 + [
        Status.ACTIVE
    ]


def test_ticked_deals_move_to_another_category_and_brand(editor: Browser, table: Table, post_deal: PostDeal) -> None:
    first, second = post_deal(), post_deal(category="bags")

    for fields, said in (({}, "Choose a category"), ({"brand": "Nobody"}, "no brand with this name")):
        refused = editor.post("/desk/deals/together", ticked(first, do="move", category="", **fields))
        assert (refused.status, said in refused.words) == (422, True)
    for _ in range(2):
        assert "2 deals moved" in sent(editor, first, second, do="move", category="bags", brand="G/Fore").words

    moved = now_is(table, first, second)
    assert [(deal.category, deal.brand_name, deal.version) for deal in moved] == [("bags", "G/Fore", 2)] * 2


def test_ticked_deals_take_the_first_places_of_a_page(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picks, "MAX_FEATURED", 3)
    there, last, first, second, over = (post_deal() for _ in range(5))
    picks.set_featured(table, FRONT_PAGE, [there.deal_id, last.deal_id], times.now())
    deals.edit(table, over.deal_id, {"ends_at": times.now()}, times.now())

    for _ in range(2):
        seen = sent(editor, first, second, over, do="page", page="front")
    sent(editor, second, do="page", page="choice")

    assert ("2 deals put on the page" in seen.words, "It has ended" in seen.words) == (True, True)
    front, choice = (picks.read(table, page, times.now()) for page in (FRONT_PAGE, EDITORS_CHOICE))
    assert [deal.deal_id for deal in front] == [first.deal_id, second.deal_id, there.deal_id]
    assert [deal.deal_id for deal in choice] == [second.deal_id]


def test_one_that_another_editor_changes_meanwhile_is_left_and_the_others_are_not(
    editor: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = post_deal(), post_deal()
    read = desk._read

    def overtaken(number: str) -> Deal | str:
        deal = read(number)
        if number == str(first.number):
            deals.edit(table, first.deal_id, {"price": "9.99"}, times.now())
        return deal

    monkeypatch.setattr(desk, "_read", overtaken)
    answer = editor.post("/desk/deals/together", ticked(first, second, do="end"))

    assert answer.location == f"/desk/deals/together/done?do=end&done={second.number}&changed={first.number}"
    assert [deal.status(times.now()) for deal in now_is(table, first, second)] == [Status.ACTIVE, Status.EXPIRED]


def test_a_link_claims_nothing_and_shows_the_deals_as_they_are(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    active, ended, other = (post_deal(title=title) for title in ("One", "Two", "Three"))
    link = f"/desk/deals/together/done?do=end&done={active.number}.{ended.number}.99999&busy={other.number}"
    assert "1 deal ended" in sent(editor, ended, do="end").words

    seen = editor.get(link)

    assert seen.words.count("There is no such deal.") == 1
    claimed = ("deals ended", "Done", "Not changed", "The table was busy")
    assert [words for words in claimed if words in seen.words] == []
    assert "4 deals, as of now" in seen.words
    assert all(title in seen.words for title in ("One", "Two", "Three", "Ended"))
    for nothing in ("done=99999", "done=99999.99998&busy=99997", "gone=", "done=%22"):
        assert editor.get(f"/desk/deals/together/done?do=end&{nothing}").status == 404


@pytest.mark.damages
def test_deals_that_are_gone_or_damaged_when_the_result_is_read_are_named(
    editor: Browser, table: Table, post_deal: PostDeal
) -> None:
    first, second = post_deal(title="One"), post_deal(title="Two")
    answer = editor.post("/desk/deals/together", ticked(first, second, "4711", do="end"))
    table.write(delete(keys.deal(first.deal_id), refused=NotFound()))

    seen = editor.get(answer.location)

    assert (seen.status, "2 deals ended" in seen.words) == (200, True)
    assert seen.words.count("There is no such deal.") == 2
    assert f"Deal {first.number}" in seen.words


def test_nothing_too_many_and_nonsense_do_nothing(editor: Browser, ana: Browser, post_deal: PostDeal) -> None:
    deal = post_deal()

    assert editor.get("/desk/deals/together?do=end").location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", {"do": "end"}).location == "/desk/deals?notice=unticked"
    assert editor.post("/desk/deals/together", ticked(deal, do="burn")).status == 400
    assert editor.post("/desk/deals/together", ticked(*map(str, range(1, 27)), do="end")).status == 400
    assert editor.post("/desk/deals/together", ticked(deal, do="page", page="mine")).status == 400
    assert ana.post("/desk/deals/together", ticked(deal, do="end")).status == 403
