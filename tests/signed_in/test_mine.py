"""A member's own pages and buttons."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from shared import settings
from shared.data.catalog import deals, topics
from shared.data.members import alerts, follows, messages, users
from shared.dynamodb.table import Table
from shared.html import cookies, views
from shared.models.catalog import BRAND, CATEGORY, Deal, Topic
from shared.models.messages import DealNews
from shared.values import times
from tests.signed_in.conftest import FUNCTIONS, PostDeal, entered
from tests.support.browsing import Browser, Seen
from tests.support.cases import cases
from tests.support.factories import APPLE, SHOES, a_deal, a_message, join, offered, send
from tests.support.surroundings import a_context, event_of


def told(table: Table, deal: Deal, username: str = "ana", kind: DealNews = "brand") -> str:
    message = a_message(deal, username, kind, times.now())
    send(table, message)
    return message.message_id


def test_more_unread_messages_than_one_reads_are_not_counted(
    ana: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "UNREAD_SHOWN", 2)
    for minutes in range(1, 5):
        told(table, post_deal(minutes, title=f"Shoe {minutes}", link=f"https://shop.example/{minutes}"))

    assert "2+ of 4 unread" in ana.get("/my/inbox").words
    assert {"who": "member", "unread": "2+"}.items() <= ana.get("/my/status").json.items()


def test_an_empty_inbox_shows_brands_that_many_watch_and_which_of_them_one_watches_already(
    ana: Browser, table: Table, post_deal: PostDeal
) -> None:
    for brand in ("apple", "g-fore"):
        post_deal(brand=brand)
    join(table, "bo")
    follows.watch(table, Topic(BRAND, "g-fore"), "bo", times.now())

    before = ana.get("/my/inbox").words
    ana.post("/my/watches/brand/apple", {"on": "1", "next": "/my/inbox"})
    after = ana.get("/my/inbox").words

    assert "No messages yet. Watch a brand, and its deals appear here." in before
    assert before.index("G/Fore") < before.index("Apple")
    assert "No messages yet. New deals of the brands and categories you watch appear here." in after
    assert "Apple One person watches it Stop watching" in after


def test_the_inbox_says_how_many_of_all_messages_are_unread(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    posted = [post_deal(n, title=f"Shoe {n}", link=f"https://shop.example/{n}") for n in range(1, 27)]
    first, *_ = [told(table, deal) for deal in posted[:25]]
    ana.get(f"/my/inbox/{first}")

    all_there = ana.get("/my/inbox")
    only_unread = ana.get("/my/inbox?unread=yes")
    told(table, posted[25])
    first_page = ana.get("/my/inbox")

    assert "24 of 25 unread" in all_there.words
    assert "24 unread" in only_unread.words
    assert "25 unread" in first_page.words
    assert [" of 2" in seen.words for seen in (only_unread, first_page)] == [False, False]


def test_a_message_is_read_once_opened_and_leads_to_its_deal(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    """All requests that open no page are in ``tests/html/test_apps.py``."""
    deal, other = post_deal(1), post_deal(2)
    path = f"/my/inbox/{told(table, deal)}"
    told(table, other)

    ahead = ana.get(path, Sec_Purpose="prefetch", Sec_Fetch_Mode="navigate")
    cookie = {"Cookie": f"{cookies.SESSION}={ana.cookies[cookies.SESSION]}"}
    head = FUNCTIONS["/my"](event_of(path, "HEAD", headers=cookie), a_context())
    unread = messages.unread_count(table, "ana", times.now())
    opened = ana.get(path, Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")

    # A browser shows what it fetched ahead in place of the message, but for errors.
    assert (ahead.status, head["statusCode"], unread) == (403, 403, 2)
    assert (opened.status, opened.location) == (303, f"/deals/{deal.deal_id}")
    assert messages.unread_count(table, "ana", times.now()) == 1
    assert seen_words(ana.get("/my/inbox")).count("Unread") == 1


def seen_words(seen: Seen) -> list[str]:
    """The words of a page that stand in bold, but for those that only screen readers have."""
    return ["".join(each.itertext()) for each in seen.document.iter("b") if "vh" not in (each.get("class") or "")]


def test_a_message_of_last_year_says_its_year(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    now = datetime(2027, 1, 5, 12, tzinfo=UTC)
    monkeypatch.setattr(times, "now", lambda: now)
    ana = entered(table, "ana")
    for days in (2, 10):
        at = now - timedelta(days=days)
        send(table, a_message(deals.create(table, a_deal(at), at), "ana", now=at))

    words = ana.get("/my/inbox").words

    assert "26 December 2026" in words
    assert "3 January" in words
    assert "3 January 2027" not in words


def test_a_message_says_what_it_was_for_and_what_changed_since(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal(title="Trail runner", price="31.90", category="electronics")
    follows.watch(table, Topic(CATEGORY, "electronics"), "ana", times.now())
    told(table, deal, kind="category")
    told(table, post_deal(2), kind="brand")
    told(table, post_deal(3), kind="hot")
    before = ana.get("/my/inbox").words

    deals.edit(table, deal.deal_id, {"title": "Road runner", "price": "29.90", "category": "home"}, times.now())

    shown = ana.get("/my/inbox").words
    assert ("You watch Electronics" in before, " then" in before) == (True, False)
    for words in ("You watch Electronics", "You watched Apple", "Hot", "Road runner", "$29.90"):
        assert words in shown
    assert "Was called “Trail runner” then Cost $31.90 then" in shown


def test_colours_of_one_product_are_one_row_and_are_read_together(
    ana: Browser, table: Table, post_deal: PostDeal, monkeypatch: pytest.MonkeyPatch
) -> None:
    noon = times.now().replace(hour=12)
    monkeypatch.setattr(times, "now", lambda: noon)
    for colour in ("blue", "red", "green"):
        told(table, post_deal(title="Road runner", variant=colour))
    other, again = (
        post_deal(title="Kettle", link="https://shop.example/kettle"),
        post_deal(title="Road runner", variant="black"),
    )
    told(table, other)
    told(table, again, kind="hot")

    page = ana.get("/my/inbox")
    rows, said = rows_of(page), re.findall(r"\d+ of \d+ unread", page.words)
    (link,) = [link for words, link in rows if "3 colours and sizes" in words]
    opened = ana.get(link)

    assert [words.count("Unread") for words, _ in rows] == [1, 1, 1]  # what came for another reason stands alone
    assert said == ["3 of 3 unread"]
    assert opened.location.startswith("/deals/")
    assert messages.unread_count(table, "ana", noon) == 2
    assert sorted(words.count("Unread") for words, _ in rows_of(ana.get("/my/inbox"))) == [0, 1, 1]


@pytest.mark.damages
def test_messages_of_others_and_of_nobody_are_not_read_beside_ones_own(
    ana: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal()
    own, _ = told(table, deal), told(table, deal, "bo")

    opened = ana.get(f"/my/inbox/{own}?alike=yes")

    assert opened.location == f"/deals/{deal.deal_id}"
    assert messages.unread_count(table, "bo", times.now()) == 1


def test_each_message_says_how_to_stop_such_ones(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    follows.watch(table, APPLE, "ana", times.now())
    follows.watch(table, SHOES, "ana", times.now())
    kinds: tuple[DealNews, ...] = ("brand", "category", "words", "hot")
    for kind in kinds:
        told(table, post_deal(title=f"Of {kind}"), kind=kind)

    page = ana.get("/my/inbox")
    actions = (each.get("action", "") for each in page.document.iter("form"))
    forms = {action for action in actions if "/my/watches/" in action}
    links = [each.get("href") for each in page.document.iter("a") if "Stop these" in "".join(each.itertext())]
    stopped = ana.post("/my/watches/brand/apple", {"next": "/my/inbox", "on": "0"})
    after = ana.get(stopped.location)

    assert forms == {"/my/watches/category/shoes", "/my/watches/brand/apple"}
    assert sorted(links) == ["/my/watches#alerts", "/my/watches#hot"]
    assert stopped.location == "/my/inbox?notice=unwatched"
    assert "You’re no longer watching it." in after.words
    assert ("You watched Apple" in after.words, "You watch Shoes" in after.words) == (True, True)
    assert "/my/watches/brand/apple" not in after.text


def rows_of(page: Seen) -> list[tuple[str, str]]:
    """The words of each row of the inbox, and where it leads."""
    rows = [each for each in page.document.iter("li") if "row" in (each.get("class") or "").split()]
    return [(" ".join("".join(row.itertext()).split()), next(row.iter("h3"))[0].get("href")) for row in rows]


@pytest.mark.damages
def test_another_members_message_is_not_found_and_stays_unread(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    assert ana.get(f"/my/inbox/{told(table, post_deal(), 'bo')}").status == 404
    assert messages.unread_count(table, "bo", times.now()) == 1


def test_all_messages_are_marked_read_at_once(ana: Browser, table: Table, post_deal: PostDeal) -> None:
    for minutes in range(1, 4):
        told(table, post_deal(minutes))

    seen = ana.post("/my/inbox/read-all")

    assert (seen.status, seen.location) == (303, "/my/inbox?notice=read")
    assert "All messages are read" in ana.get("/my/inbox").words
    assert "All messages are read." in ana.get("/my/inbox?unread=yes").words


def test_an_inbox_goes_on_and_a_forged_cursor_leads_to_the_newest(
    ana: Browser, table: Table, post_deal: PostDeal
) -> None:
    for minutes in range(1, 28):
        told(table, post_deal(minutes, title=f"Runner {minutes:03}", link=f"https://shop.example/{minutes}"))

    first = ana.get("/my/inbox")
    second = ana.get(next(a.get("href") for a in first.document.iter("a") if "cursor=" in (a.get("href") or "")))

    shown = [[f"Runner {number:03}" in seen.words for number in (25, 26, 27)] for seen in (first, second)]
    assert shown == [[True, False, False], [False, True, True]]
    for path in ("/my/inbox", "/my/inbox?unread=yes", *cases("MEMBERS_LISTS")):
        forged = ana.get(f"{path}{'&' if '?' in path else '?'}cursor=forged")
        links = {" ".join(a.itertext()): a.get("href") for a in forged.document.iter("a")}
        assert (forged.status, links["Start with the newest"]) == (400, path)


@pytest.mark.parametrize(
    ("button", "place", "said", "state"),
    [
        ("/my/watches/brand/apple", "/brands/apple", ("watching", "unwatched"), "watching"),
        ("/my/watches/category/shoes", "/categories/shoes", ("watching", "unwatched"), "watching"),
        ("/my/likes/brand/apple", "/brands/apple", ("liked", "unliked"), "liked"),
        ("/my/likes/category/shoes", "/categories/shoes", ("liked", "unliked"), "liked"),
    ],
)
def test_a_button_counts_once_leads_back_and_never_away_and_takes_back_what_it_did(
    ana: Browser, table: Table, button: str, place: str, said: tuple[str, str], state: str
) -> None:
    def count() -> int:
        page = topics.get(table, APPLE if "brand" in button else SHOES)
        return page.likes + page.watchers

    sent = [ana.post(button, {"on": "1"} | more) for more in ({}, {}, {"next": "//evil.example/"})]
    by_script = ana.post(button, {"on": "1"}, Accept="application/json")
    counted = count()
    back = ana.post(button, {"on": "0", "next": "/my/watches"})

    assert [(seen.status, seen.location) for seen in sent] == [(303, f"{place}?notice={said[0]}")] * 3
    assert (by_script.status, by_script.json[state]) == (200, True)
    assert by_script.json["notice"] == views.render("parts/sentence.html", notice=said[0]).strip() != ""
    assert (back.status, back.location) == (303, f"/my/watches?notice={said[1]}")
    assert (counted, count()) == (1, 0)


def test_what_does_not_exist_is_not_watched_or_liked(ana: Browser) -> None:
    for button in ("watches/brand/nothing", "likes/category/nothing", "watches/shop/apple"):
        assert ana.post(f"/my/{button}", {"on": "1"}).status == 404, button


def fields_of(page: Seen, form: str) -> dict[str, str]:
    """The values of the fields that a form of the table of watches sends from its row."""
    found = {each.get("name"): each.get("value", "") for each in page.document.findall(f".//input[@form='{form}']")}
    for each in page.document.findall(f".//select[@form='{form}']"):
        (chosen,) = each.findall("option[@selected]")
        found[each.get("name")] = chosen.get("value")
    return found


def test_a_watchs_limits_are_edited_in_its_row_which_says_what_they_cannot_be(ana: Browser) -> None:
    ana.post("/my/watches/brand/g-fore", {"on": "1"})
    typed = {"ceiling": "$80,5", "currency": "EUR", "leastDiscount": "", "words": "running shoes", "pace": "daily"}

    refused = ana.post("/my/watches/brand/g-fore/limits", typed)
    kept = ana.post("/my/watches/brand/g-fore/limits", typed | {"ceiling": "€80,5"})

    assert (refused.status, kept.status, kept.location) == (422, 303, "/my/watches?notice=limits#row-brand-g-fore")
    assert "Highest price must be a price such as 79.95." in refused.words  # in the summary
    assert refused.words.count("This must be a price such as 79.95.") == 1
    assert fields_of(refused, "brand-g-fore") == typed
    (link,) = refused.document.findall(".//*[@role='alert']//a")
    (field,) = refused.document.findall(f".//input[@id='{link.get('href')[1:]}']")
    assert (field.get("name"), field.get("form"), field.get("aria-invalid")) == ("ceiling", "brand-g-fore", "true")
    shown = ana.get(kept.location.partition("#")[0])
    assert fields_of(shown, "brand-g-fore") == typed | {"ceiling": "80.50"}
    assert shown.document.find(".//tr[@id='row-brand-g-fore']//b[@class='done']").text == "Saved"
    assert shown.document.find(".//form[@id='brand-g-fore']").get("action") == "/my/watches/brand/g-fore/limits"
    assert ana.get("/my/watches/brand/g-fore/limits").location == "/my/watches"


def test_limits_of_a_watch_that_ended_meanwhile_are_refused_in_its_row_and_watch_again(
    ana: Browser, table: Table
) -> None:
    refused = ana.post("/my/watches/brand/apple/limits", {"leastDiscount": "lots", "pace": "daily"})
    unknown = ana.post("/my/watches/brand/nothing/limits", {"leastDiscount": "lots"})
    kept = ana.post("/my/watches/brand/apple/limits", {"leastDiscount": "30"})

    assert (refused.status, unknown.status, kept.status) == (422, 404, 303)
    assert fields_of(refused, "brand-apple")["leastDiscount"] == "lots"
    assert follows.watching(table, "ana")[APPLE].least_discount == 30


def test_alerts_are_asked_for_where_one_reads_and_are_changed_in_one_place(
    ana: Browser, anyone: Browser, table: Table, post_deal: PostDeal
) -> None:
    deal = post_deal(1)
    place = f"/my/alerts/deals/{deal.number}"

    asked = [ana.post(place, {"ceiling": "25"}), ana.post("/my/alerts", {"words": "running shoes"})]
    refused = [ana.post(place, {"ceiling": "cheap"}), ana.post("/my/alerts", {"words": "of the"})]
    listed = ana.get("/my/watches")
    of_price, of_words = alerts.of(table, "ana")
    wrong = {"ceiling": "-1", "currency": "USD", "leastDiscount": "", "pace": "daily"}
    kept = ana.post(f"/my/alerts/{of_words.alert_id}", wrong)
    changed = ana.post(f"/my/alerts/{of_words.alert_id}", {"ceiling": "80", "pace": "never"})
    ana.post(f"/my/alerts/{of_price.alert_id}/remove", {})

    assert [seen.location for seen in asked] == [f"/deals/{deal.number}?notice=alert-set", "/my/watches?notice=alert"]
    assert [seen.status for seen in (*refused, kept)] == [422] * 3
    assert fields_of(kept, of_words.alert_id) == wrong
    assert "Alerts 2 of 100" in listed.words
    assert listed.words.index(deal.title) < listed.words.index("“running shoes”")
    price = {"ceiling": "25.00", "currency": deal.currency, "pace": "at-once"}
    assert fields_of(listed, of_price.alert_id) == price
    every = {"ceiling": "", "currency": "", "leastDiscount": "", "pace": "at-once"}
    assert fields_of(listed, of_words.alert_id) == every
    assert changed.location == f"/my/watches?notice=limits#row-{of_words.alert_id}"
    only = {"ceiling": "80.00", "currency": "USD", "leastDiscount": "", "pace": "never"}
    assert fields_of(ana.get("/my/watches"), of_words.alert_id) == only
    assert fields_of(ana.get("/my/watches"), of_price.alert_id) == {}
    assert ana.post(f"/my/alerts/{of_price.alert_id}", {"ceiling": "9"}).status == 404
    assert urlsplit(anyone.post(place, {"ceiling": "25"}).location).path == "/account/sign-in"


def test_an_alert_shows_how_its_deals_price_has_changed_since_yesterday(
    ana: Browser, table: Table, post_deal: PostDeal
) -> None:
    falls, rises, stays = (post_deal(5000, price="50.00", link=f"https://shop.example/{n}") for n in range(3))
    for deal in (falls, rises, stays):
        ana.post(f"/my/alerts/deals/{deal.number}", {"ceiling": "25"})
    for deal, price in ((falls, "38.00"), (rises, "52.25")):
        deals.edit(table, deal.deal_id, {"price": price}, times.now())

    seen = ana.get("/my/watches").words

    assert [said in seen for said in ("down $12 since yesterday", "up $2.25 since yesterday")] == [True, True]
    assert seen.count("since yesterday") == 2


def test_an_alert_whose_deal_is_over_shows_another_offer_of_the_product_or_says_what_happened(
    ana: Browser, table: Table, post_deal: PostDeal
) -> None:
    over = [post_deal(5000, price="50.00", title=f"Lamp {n}", link=f"https://shop.example/{n}") for n in range(4)]
    for deal in over:
        ana.post(f"/my/alerts/deals/{deal.number}", {"ceiling": "25"})
        deals.edit(table, deal.deal_id, {"ends_at": times.now() - timedelta(minutes=1)}, times.now())
    deals.withdraw(table, over[3].deal_id, times.now())
    again = [post_deal(price=price, link=over[0].link) for price in ("48.00", "37.00")]
    euros = post_deal(price="30.00", currency="EUR", link=over[1].link)
    offered(table, [*again, euros])

    seen = ana.get("/my/watches")

    rows = {
        row.find("./th//a").get("href"): " ".join(" ".join(row.itertext()).split())
        for row in seen.document.findall(".//tr[@id]")[:4]
    }
    assert "This deal ended. Here is another offer. Today $37.00" in rows[f"/deals/{again[1].number}"]
    assert "The price is in EUR now, and your alert in USD." in rows[f"/deals/{euros.number}"]
    assert "This deal ended. There is no other offer now." in rows[f"/deals/{over[2].deal_id}"]
    assert "This deal was withdrawn. There is no other offer now." in rows[f"/deals/{over[3].deal_id}"]


@pytest.mark.parametrize(
    ("ceiling", "met"), [("31.89", False), ("31.90", True), ("900", True)], ids=["below", "at today's price", "above"]
)
def test_an_alert_that_todays_price_meets_says_so_on_the_deals_page(
    ana: Browser, post_deal: PostDeal, ceiling: str, met: bool
) -> None:
    deal = post_deal(1, price="31.90")

    leads = ana.post(f"/my/alerts/deals/{deal.number}", {"ceiling": ceiling}).location

    assert leads == (f"/deals/{deal.number}?notice=alert-met" if met else f"/deals/{deal.number}?notice=alert-set")


def test_a_member_chooses_the_pace_of_hot_deals(ana: Browser, table: Table) -> None:
    leads = ana.post("/account/hot", {"pace": "never"}).location

    assert leads == "/my/watches?notice=limits"
    assert ana.get(leads).values()["pace"] == users.get(table, "ana").hot_pace == "never"
    assert ana.post("/account/hot", {"pace": "hourly"}).status == 422


def test_what_was_done_is_said_in_the_browser_that_did_it(ana: Browser, table: Table) -> None:
    leads = ana.post("/my/watches/brand/g-fore", {"on": "1", "next": "/my/watches?notice=removed&a=b"}).location

    assert leads == "/my/watches?a=b&notice=watching"
    assert "You’re watching it" in ana.get(leads).words
    assert "Removed from" not in ana.get("/my/watches?notice=unliked").words
    assert "You’re watching it" not in entered(table, "bo").get(leads).words


def test_all_watches_and_likes_are_listed_with_buttons_that_end_them(ana: Browser) -> None:
    for button in ("watches/brand/g-fore", "watches/category/shoes", "likes/brand/g-fore", "likes/brand/apple"):
        ana.post(f"/my/{button}", {"on": "1"})
    ana.post("/my/likes/category/shoes", {"on": "1"})

    before = ana.get("/my/watches").words
    ended = ana.post("/my/likes/brand/g-fore", {"on": "0", "next": "/my/watches"})
    after = ana.get("/my/watches").words

    assert "G/Fore Only you watch it Highest price" in before
    assert before.count("Save Stop watching") == 2
    assert before.count("Not watched") == 7
    assert "Shoes Category Unlike G/Fore Brand Unlike Apple Brand Unlike" in before
    assert ended.location == "/my/watches?notice=unliked"
    assert ("G/Fore Brand Unlike" in after, "Shoes Category Unlike" in after) == (False, True)


def test_a_like_of_any_brand_can_be_looked_up_and_ended(ana: Browser, table: Table) -> None:
    ana.post("/my/likes/brand/apple", {"on": "1"})

    found = ana.get("/my/watches?brand=APPLE")
    ana.post("/my/likes/brand/apple", {"on": "0", "next": "/my/watches"})
    gone = ana.get("/my/watches?brand=apple")

    assert "Apple Brand Unlike" in found.words
    assert "Apple Not in your likes Like" in gone.words
    assert topics.get(table, APPLE).likes == 0
    for unknown in ("Nobody", "%21%21%21"):
        seen = ana.get(f"/my/watches?brand={unknown}")
        assert (seen.status, "There is no brand with this name." in seen.words) == (404, True)


def test_the_status_shows_what_is_asked(ana: Browser, anyone: Browser, table: Table, post_deal: PostDeal) -> None:
    deal = post_deal()
    told(table, deal)
    ana.post("/my/likes/brand/apple", {"on": "1"})
    path = f"/my/status?deal={deal.number}&topic=brand/apple"
    before = ana.get(path)
    ana.post(f"/my/alerts/deals/{deal.number}", {"ceiling": "25"})

    seen, of_nobody = ana.get(path), anyone.get(path)

    head = {"who": "member", "unread": 1}
    assert (head | {"watching": False, "liked": True}).items() <= seen.json.items()
    assert {"alert": "$25.00", "ceiling": "25.00"}.items() <= seen.json.items()
    assert "alert" not in before.json
    assert seen.headers["Cache-Control"] == ["no-store"]
    assert (of_nobody.status, of_nobody.json) == (200, {})
    assert ana.get("/my/status?deal=99").json == ana.get("/my/status").json
