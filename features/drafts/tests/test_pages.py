"""Drafts on the desk."""

from __future__ import annotations

from datetime import timedelta

from features.drafts import data as drafts
from features.drafts.data import Draft
from shared.dynamodb.table import Table
from shared.values import times
from tests.signed_in.conftest import editor, entered, table  # noqa: F401  # fixtures
from tests.support.browsing import DEAL, LINK, Browser, Seen, filled, posted

SOON = times.to_iso(times.now() + timedelta(days=1)).removesuffix("Z")[:16]
"""A time as a browser sends it."""


def own(table: Table) -> list[Draft]:
    return drafts.of(table, "eddy")


def draft_form(seen: Seen, **changed: str) -> dict[str, str]:
    """The form of a draft as a browser would send it."""
    return filled(seen) | {name: seen.values().get(name, "") for name in ("version", "startsAt")} | changed


def saved(editor: Browser, table: Table, **fields: str) -> str:
    """The path of a draft that the editor has saved."""
    editor.post("/desk/drafts", fields)
    return f"/desk/drafts/{own(table)[0].draft_id}"


def test_a_form_that_is_not_whole_is_kept_once_and_opened_as_it_was_typed(editor: Browser, table: Table) -> None:
    form = filled(editor.get(f"/desk/deals/new?link={LINK}"), title="Trail runner", brand="Brand to come", price="")

    first, again = (editor.post("/desk/drafts", form) for _ in range(2))

    assert first.location == again.location == "/desk/drafts?notice=drafted"
    (draft,) = own(table)
    seen = editor.get(f"/desk/drafts/{draft.draft_id}")
    kept = {name: seen.values()[name] for name in ("title", "brand", "price", "link")}
    assert kept == {"title": "Trail runner", "brand": "Brand to come", "price": "", "link": LINK}
    for path in ("/desk", "/desk/drafts"):
        assert "Trail runner" in editor.get(path).words
    assert posted(table) == []


def test_a_draft_is_its_editors_own_who_discards_it_after_a_page_that_says_so(editor: Browser, table: Table) -> None:
    path = saved(editor, table, **DEAL)
    other = entered(table, "edda", "editor")

    refused = [other.get(path + form).status for form in ("", "/discard")]
    refused += [other.post(path + form, DEAL).status for form in ("", "/post", "/preview")]
    assert refused == [404] * 5
    assert "Trail runner" not in other.get("/desk/drafts").words
    assert len(own(table)) == 1

    asked = editor.get(f"{path}/discard")
    first, again = (editor.post(f"{path}/discard") for _ in range(2))
    assert "This can’t be undone" in asked.words
    assert first.location == again.location == "/desk/drafts?notice=discarded"
    assert [*own(table), *posted(table)] == []


def test_a_draft_is_posted_once_as_its_form_says(editor: Browser, table: Table) -> None:
    path = saved(editor, table, **DEAL)
    form = draft_form(editor.get(path), title="Road runner")

    first, again = (editor.post(f"{path}/post", form) for _ in range(2))

    (deal,) = posted(table)
    assert (first.location, deal.title) == (f"/desk/deals/{deal.number}?notice=posted", "Road runner")
    assert again.location == f"/desk/deals/{deal.deal_id}?notice=posted"
    assert own(table) == []


def test_a_draft_is_planned_and_no_longer_planned(editor: Browser, table: Table) -> None:
    planned = editor.post("/desk/drafts", DEAL | {"startsAt": SOON})
    (draft,) = own(table)
    path = f"/desk/drafts/{draft.draft_id}"
    shown = editor.get("/desk/drafts").words
    form = draft_form(editor.get(path))

    not_now = editor.post(f"{path}/post", form)
    saved = editor.post(path, form | {"startsAt": ""})

    assert planned.location == "/desk/drafts?notice=planned"
    assert "Scheduled for" in shown
    assert (not_now.status, "To post it now, clear this field" in not_now.words) == (422, True)
    assert form["startsAt"].startswith(SOON)
    assert saved.location == "/desk/drafts?notice=drafted"
    assert [each.starts_at for each in own(table)] == [None]


def test_what_cannot_be_planned_is_named_at_its_field_and_kept_in_the_form(editor: Browser, table: Table) -> None:
    for changed, said in (
        ({"startsAt": "2020-01-01T00:00"}, "This must be in the future"),
        ({"startsAt": SOON, "expiresAt": SOON}, "would have ended by then"),
        ({"startsAt": SOON, "title": ""}, "This must be filled in."),
        ({"startsAt": SOON, "brand": "Nobody’s"}, "no brand with this name yet"),
        ({"price": "cheap"}, "Write the price in digits"),
    ):
        seen = editor.post("/desk/drafts", DEAL | changed)
        assert (seen.status, said in seen.words) == (422, True), changed
    odd = editor.post("/desk/drafts", DEAL | {"startsAt": SOON, "listPrice": "31.90"})
    assert (odd.status, "Schedule it anyway" in odd.words) == (409, True)
    assert own(table) == []

    meant = editor.post("/desk/drafts", DEAL | {"startsAt": SOON, "listPrice": "31.90", "confirm": "price"})
    assert meant.location == "/desk/drafts?notice=planned"


def test_two_windows_with_one_draft_do_not_undo_each_other(editor: Browser, table: Table) -> None:
    path = saved(editor, table, **DEAL)
    old = draft_form(editor.get(path))
    editor.post(path, old | {"title": "Road runner"})

    refused = editor.post(path, old | {"price": "9.99"})
    again = editor.post(path, old | {"title": "Road runner"})

    assert (refused.status, "saved in another window" in refused.words) == (409, True)
    assert refused.values()["price"] == "9.99"
    assert again.location == "/desk/drafts?notice=drafted"
    assert [(each.deal.title, each.deal.price) for each in own(table)] == [("Road runner", "31.90")]


def test_what_its_plan_could_not_post_or_posted_meanwhile_is_said(editor: Browser, table: Table) -> None:
    late = times.now() + timedelta(days=3)
    path = saved(editor, table, **DEAL | {"startsAt": SOON, "expiresAt": times.to_iso(late)[:16]})
    drafts.sweep(table, late)
    assert "had ended before it was posted" in editor.get("/desk/drafts").words
    assert "had ended before it was posted" in editor.get(path).words

    editor.post(path, draft_form(editor.get(path), expiresAt="", startsAt=SOON))
    form = draft_form(editor.get(path))
    (begun,) = drafts.sweep(table, late)
    assert editor.post(path, form).location == f"/desk/deals/{begun.deal.deal_id}?notice=posted"


def test_a_preview_of_a_draft_keeps_it_one_and_writes_nothing(editor: Browser, table: Table) -> None:
    path = saved(editor, table, **DEAL)

    seen = editor.post(f"{path}/preview", draft_form(editor.get(path), title="Road runner", startsAt=SOON))

    assert (seen.status, seen.values()["version"], seen.values()["startsAt"]) == (200, "1", SOON)
    assert 'action="/desk/drafts/' in seen.text
    assert [each.deal.title for each in own(table)] == ["Trail runner"]
