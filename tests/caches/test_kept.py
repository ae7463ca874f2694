"""Copies kept by a function for a second: under load, the table is read once a second, and never much too old."""

from __future__ import annotations

from datetime import timedelta

import pytest

from shared import settings
from shared.data.catalog import page_cache
from shared.data.catalog.page_cache import HTML, JSON, NEWEST, PARTS, PICKED, Copy, CopyCache
from shared.data.members import follows
from shared.dynamodb.table import Table
from shared.errors import NoSuchTopic
from shared.models.catalog import CATEGORY, Topic
from tests.support.factories import NOW, SHOES, ahead, join
from tests.support.wire import watched

NEXT = NOW + settings.COPIES_ARE_KEPT
OLD, NEW = Copy(latest='{"items":["old"]}'), Copy(latest='{"items":["new"]}')


def written(table: Table, copy: Copy, *, began: timedelta = timedelta(), lasts: timedelta = timedelta(days=1)) -> None:
    page_cache.write(table, NEWEST, copy, began=NOW + began, expires=NOW + lasts)


def latest(kept: CopyCache, table: Table, **when: object) -> str | None:
    (copy,) = kept.read(table, [NEWEST], shard=1, **when)  # type: ignore[arg-type]  # just the time
    return None if copy is None else copy.latest


def test_a_copy_is_read_once_in_a_second_and_what_was_rebuilt_is_shown_a_second_later(table: Table) -> None:
    kept = CopyCache()
    written(table, OLD)

    with watched(table) as wire:
        shown = {latest(kept, table, now=NOW + timedelta(milliseconds=10 * number)) for number in range(100)}
    written(table, NEW, began=timedelta(milliseconds=1))

    assert (shown, wire.operations) == ({OLD.latest}, {"BatchGetItem": 1})
    assert latest(kept, table, now=NEXT - timedelta(milliseconds=1)) == OLD.latest
    assert latest(kept, table, now=NEXT) == NEW.latest


def test_a_copy_is_not_shown_beyond_its_end_nor_before_it_was_read(table: Table) -> None:
    kept = CopyCache()
    written(table, OLD, lasts=timedelta(seconds=10))
    assert latest(kept, table, now=ahead(seconds=9.5)) == OLD.latest

    assert latest(kept, table, now=ahead(seconds=10)) is None
    with watched(table) as wire:
        latest(kept, table, now=ahead(seconds=9))  # a clock that was set back
    assert wire.operations == {"BatchGetItem": 1}


def test_a_copy_that_is_missing_is_looked_for_each_time(table: Table) -> None:
    kept = CopyCache()
    before = latest(kept, table, now=NOW)
    written(table, NEW)

    assert (before, latest(kept, table, now=NOW)) == (None, NEW.latest)


def test_only_what_is_not_kept_is_read(table: Table) -> None:
    kept = CopyCache()
    for part in PARTS:
        copy = Copy(picks="[]" if part.picks else None, latest="{}" if part.feed else None)
        page_cache.write(table, part, copy, began=NOW, expires=ahead(hours=1))
    latest(kept, table, now=NOW)

    with watched(table) as wire:
        found = kept.read(table, PARTS, shard=1, now=NOW)

    assert None not in found
    (request,) = wire.requests
    assert len(request.body["RequestItems"][table.name]["Keys"]) == len(PARTS) - 1


def test_a_category_is_kept_with_its_counts(table: Table) -> None:
    kept = CopyCache()
    page_cache.write(table, PICKED[SHOES], Copy(picks="[]", latest="{}"), began=NOW, expires=ahead(hours=1))
    before, _ = kept.read_category(table, SHOES, shard=1, now=NOW)
    join(table, "ana")
    follows.like(table, SHOES, "ana", NOW)

    with watched(table) as wire:
        within, _ = kept.read_category(table, SHOES, shard=1, now=NOW)
    after, _ = kept.read_category(table, SHOES, shard=1, now=NEXT)

    assert not wire.requests
    assert (before.likes, within.likes, after.likes) == (0, 0, 1)


def test_a_category_that_is_none_is_refused_without_a_read(table: Table) -> None:
    with watched(table) as wire, pytest.raises(NoSuchTopic):
        CopyCache().read_category(table, Topic(CATEGORY, "boats"), shard=1, now=NOW)

    assert not wire.requests


def test_a_parts_copies_as_json_and_as_html_are_two(table: Table) -> None:
    kept = CopyCache()
    written(table, OLD)
    page_cache.write(table, NEWEST, Copy(latest="<li>Shoe</li>\n"), began=NOW, expires=ahead(hours=1), form=HTML)

    texts = {form.name: kept.read(table, [NEWEST], shard=1, now=NOW, form=form) for form in (JSON, HTML)}

    assert [copy and copy.latest for copy in texts["JSON"]] == [OLD.latest]
    assert [copy and copy.latest for copy in texts["HTML"]] == ["<li>Shoe</li>\n"]


def test_what_is_written_of_a_part_is_what_is_read(table: Table) -> None:
    copies = [(JSON, Copy('["a\\u001e"]', "{}")), (HTML, Copy("", "<p>\n</p>")), (HTML, Copy("<b>", ""))]
    for number, (form, copy) in enumerate(copies):
        page_cache.write(table, PICKED[SHOES], copy, began=ahead(seconds=number), expires=ahead(days=1), form=form)

        (read,) = page_cache.read(table, [PICKED[SHOES]], shard=1, now=NOW, form=form)

        assert read is not None
        assert (read.picks, read.latest) == (copy.picks, copy.latest)
