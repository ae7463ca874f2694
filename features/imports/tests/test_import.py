"""``btd import`` on small files, made here, and on the sample of real deals."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from subprocess import PIPE
from typing import Any

import pytest

from local.settings import ROOT
from shared.data.catalog import deals, feed_counts, topics
from shared.dynamodb.table import Table
from shared.errors import BrandExists
from shared.models.catalog import ALL_DEALS, BRAND, Deal, Topic, feed_of
from shared.values.times import from_iso, now, to_iso
from tests.cli.conftest import Btd, bare_table, btd, server, table, wide_terminal  # noqa: F401  # fixtures
from tests.support.commands import until
from tests.support.factories import walk

SAMPLE = ROOT / "tests" / "sample" / "deals.jsonl"
POSTED = "2025-03-01T10:00:00Z"


def a_line(source_id: str = "shop:1", **others: Any) -> dict[str, Any]:
    """A line that can be imported; a field that is None is left out."""
    fields = {
        "sourceId": source_id,
        "title": "Trail runner",
        "brand": "Allbirds",
        "category": "Shoes",
        "link": "https://shop.example/trail-runner",
        "price": "31.90",
        "listPrice": "158.00",
        "currency": "USD",
        "postedAt": POSTED,
        **others,
    }
    return {name: value for name, value in fields.items() if value is not None}


def a_file(folder: Path, lines: Iterable[dict[str, Any] | str | bytes]) -> str:
    path = folder / "deals.jsonl"
    texts = (json.dumps(line) if isinstance(line, dict) else line for line in lines)
    path.write_bytes(b"".join((text.encode() if isinstance(text, str) else text) + b"\n" for text in texts))
    return str(path)


def imported(table: Table, *source_ids: str) -> list[Deal]:
    ids = deals.by_source(table, source_ids)
    return deals.get_many(table, [ids[source_id] for source_id in source_ids], consistent=True)


def test_the_sample_goes_in_whole_and_a_second_run_creates_nothing(table: Table, btd: Btd) -> None:
    lines = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
    active = [line for line in lines if "withdrawnAt" not in line]

    first, second = btd("import", str(SAMPLE)), btd("import", str(SAMPLE))

    assert f"{len(lines)} deals created ({len(lines) - len(active)} of them withdrawn since)" in first.stdout
    assert re.search(r"\d+ requests, ≥?[\d.]+ RRU \+ [\d.]+ WRU consumed", first.stdout)
    assert "0 deals created" in second.stdout
    assert f"{len(lines)} deals already there" in second.stdout
    assert "0 brands created" in second.stdout
    found = [deal for page in walk(table, ALL_DEALS, now=now()) for deal in page.items]
    assert sorted(str(deal.source_id) for deal in found) == sorted(line["sourceId"] for line in active)


def test_a_deal_keeps_its_own_time_and_fields(table: Table, btd: Btd, tmp_path: Path) -> None:
    line = a_line(couponCode="TEN", description="Light.", expiresAt="2099-01-01T00:00:00Z")

    btd("import", a_file(tmp_path, [line, a_line("shop:2", withdrawnAt="2025-03-02T00:00:00Z")]))

    deal, withdrawn = imported(table, "shop:1", "shop:2")
    assert to_iso(withdrawn.withdrawn_at or now()) == "2025-03-02T00:00:00Z"
    assert to_iso(deal.created_at) == POSTED
    assert deal.deal_id == deals.new_id(from_iso(POSTED), "shop:1", b"")
    assert (deal.title, deal.price, deal.list_price, deal.category) == ("Trail runner", "31.90", "158.00", "shoes")
    assert (deal.coupon_code, deal.description, deal.brand_name) == ("TEN", "Light.", "Allbirds")
    assert deal.ends_at == from_iso("2099-01-01T00:00:00Z")


def test_names_that_differ_in_signs_are_brands_unless_1_1_0_filed_one_under_a_slug_without_them(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    topics.create_brands(table, {"rag-bone": "Rag & Bone", "at-t": "AT&T", "c": "C"}, now())
    names = ("Rag & Bone", "Rag+Bone", "RAG AND BONE", "Rag Bone", "AT&T", "C", "C++", "C#")

    result = btd("import", a_file(tmp_path, [a_line(str(number), brand=name) for number, name in enumerate(names)]))

    assert [deal.brand for deal in imported(table, *map(str, range(len(names))))] == [
        "rag-bone", "rag-plus-bone", "rag-bone", "rag-bone", "at-t", "c", "c-plus-plus", "c-sharp",
    ]  # fmt: skip
    for met in ("RAG AND BONE", "Rag Bone"):
        assert f"'{met}' in 1 record is filed under the brand 'Rag & Bone': both names have one slug" in result.stdout
    with pytest.raises(BrandExists):
        topics.create_brand(table, "rag-and-bone", "Rag & Bone", now())


def test_a_brand_has_the_name_that_it_has_already_or_that_is_written_first(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    topics.create_brand(table, "asics", "Asics", now())
    lines = [a_line("1", brand="ASICS"), a_line("2", brand="G/Fore"), a_line("3", brand="g-FORE")]

    result = btd("import", a_file(tmp_path, lines))

    assert "1 brand created" in result.stdout
    assert "'g-FORE' in 1 record is filed under the brand 'G/Fore': both names have one slug\n" in result.stdout
    assert "ASICS" not in result.stdout
    assert topics.brand_names(table) == {"asics": "Asics", "g-fore": "G/Fore"}
    assert [deal.brand_name for deal in imported(table, "1", "2", "3")] == ["Asics", "G/Fore", "G/Fore"]


def test_a_deal_that_its_brands_name_makes_too_large_is_left_out_alone(table: Table, btd: Btd, tmp_path: Path) -> None:
    from features.imports.importing import entry  # noqa: PLC0415
    from features.imports.json_lines import Record  # noqa: PLC0415  # what is tried is inside

    line = a_line("1", brand="Levi\u2019s", description="\u2014" * 2500)  # its slug takes two bytes less than its name
    given = deals.attributes(entry(Record(1, 1, line), now()).deal)
    size = sum(len(name) + len(str(value).encode()) for name, value in given.items() if value is not None)
    line["description"] += "e" * (deals.MAX_BYTES - size)

    result = btd("import", a_file(tmp_path, [line, a_line("2")]), code=1)

    assert f"line 1: A deal must have at most {deals.MAX_BYTES}" in result.output
    assert [deal.source_id for deal in imported(table, "2")] == ["2"]
    assert deals.by_source(table, ["1"]) == {}


def test_brands_that_another_import_creates_meanwhile_keep_the_names_they_have_then(table: Table) -> None:
    from features.imports.importing import Importer, entry  # noqa: PLC0415
    from features.imports.json_lines import Record  # noqa: PLC0415  # what is tried is inside

    brands = ("ASICS", "G/Fore", "Hoka", "Keen")
    entries = [entry(Record(n, 1, a_line(str(n), brand=brand)), now()) for n, brand in enumerate(brands)]
    importer = Importer(table, now())  # it has read the list of brands, and has found none
    topics.create_brand(table, "asics", "Asics", now())
    topics.create_brand(table, "hoka", "HOKA", now())

    importer._create_brands(entries)

    assert topics.brand_names(table) == {"asics": "Asics", "g-fore": "G/Fore", "hoka": "HOKA", "keen": "Keen"}
    assert importer.report.brands == 2
    (batch,) = importer._prepared(entries)
    assert [each.deal.brand_name for each in batch] == ["Asics", "G/Fore", "HOKA", "Keen"]


def test_an_import_of_many_brands_numbers_its_deals_in_the_order_of_the_file(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    ids = [f"shop:{number}" for number in range(120)]
    lines = [a_line(each, brand=f"Brand {120 - number}") for number, each in enumerate(ids)]

    result = btd("import", a_file(tmp_path, lines))

    assert "120 brands created" in result.stdout
    assert [deal.number for deal in imported(table, *ids)] == [*range(1, 121)]


def test_a_later_file_withdraws_a_deal_that_is_there(table: Table, btd: Btd, tmp_path: Path) -> None:
    btd("import", a_file(tmp_path, [a_line("1"), a_line("2")]))
    later = a_file(tmp_path, [a_line("1", withdrawnAt="2025-03-02T00:00:00Z"), a_line("2")])

    result, again = btd("import", later), btd("import", later)

    assert "2 deals already there\n1 deal of those withdrawn now" in result.stdout
    assert "0 deals of those withdrawn now" in again.stdout
    assert feed_counts.counts(table, feed_of(Topic(BRAND, "allbirds"))) == {"2025-03-01": 1}


def test_a_source_id_twice_in_a_file_makes_one_deal_which_the_second_line_may_withdraw(
    table: Table, btd: Btd, tmp_path: Path
) -> None:
    lines = [a_line(), a_line(title="Another title", withdrawnAt="2025-03-02T00:00:00Z")]

    result = btd("import", a_file(tmp_path, lines))

    assert "1 deal created\n1 deal already there\n1 deal of those withdrawn now" in result.stdout
    (deal,) = imported(table, "shop:1")
    assert deal.title == "Trail runner"
    assert deal.withdrawn_at is not None


BAD_LINES: dict[str, tuple[dict[str, Any] | str | bytes, str]] = {
    "no JSON": ("{", "must be JSON"),
    "NaN": ('{"price": NaN}', "must be JSON"),
    "nested too deeply": ("[" * 20_000, "must be JSON"),
    "an array": ("[1, 2]", "must be a JSON object"),
    "an object without fields": ("{}", "title: "),
    "not UTF-8": (b'{"title": "\xff"}', "must be UTF-8"),
    "400 KB": (a_line(title="x" * 400_000), "must have at most 64 KB"),
    "no identity": (a_line(sourceId=None), "sourceId: must be given"),
    "an unknown field": (a_line(colour="red"), "colour: must not be given"),
    "a negative price": (a_line(price="-1.00"), "price: "),
    "an exponent": (a_line(price="1e3"), "price: "),
    "a number for a price": (a_line(price=31.9), "price: "),
    "a script for a link": (a_line(link="javascript:alert(1)"), "link: must be an http or https address"),
    "a title of 301 characters": (a_line(title="x" * 301), "title: "),
    "a control character": (a_line(title="a\u001b[2Jb"), "title: must not have the character U+001B"),
    "half a surrogate": (a_line(title="\ud800"), "title: must be a valid string"),
    "a brand without a slug": (a_line(brand="🙂"), "brand: "),
    "an unknown category": (a_line(category="Cars"), "category: must be one of clothing"),
    "a currency in small letters": (a_line(currency="usd"), "currency: "),
    "before the first KSUID": (a_line(postedAt="2014-05-12T00:00:00Z"), "postedAt: must not be before 2014-05-13"),
    "in the future": (a_line(postedAt="2999-01-01T00:00:00Z"), "A deal must not be created in the future"),
    "without an offset": (a_line(postedAt="2025-03-01T10:00:00"), "postedAt: must be an ISO 8601 time with an offset"),
    "posted twice": (a_line(createdAt=POSTED), "must have postedAt or createdAt"),
    "withdrawn before it was posted": (
        a_line(withdrawnAt="2025-02-01T00:00:00Z"),
        "withdrawnAt: must be between 2025-03-01",
    ),
    "withdrawn in the future": (a_line(withdrawnAt="2999-01-01T00:00:00Z"), "withdrawnAt: must be between 2025-03-01"),
    "too large a deal": (a_line(description="ü" * 4000, link="https://shop.example/" + "x" * 1900), "at most 8192"),
}


def test_bad_lines_are_reported_by_number_while_the_others_go_in(table: Table, btd: Btd, tmp_path: Path) -> None:
    bad = list(BAD_LINES.values())
    lines = [part for number, (line, _) in enumerate(bad) for part in (a_line(f"good:{number}"), line)]

    result = btd("import", a_file(tmp_path, lines), code=1)

    assert f"{len(bad)} deals created" in result.stdout
    assert f"{len(bad)} bad lines" in result.stdout
    reports = result.stderr.splitlines()
    for number, (report, (_, reason)) in enumerate(zip(reports, bad, strict=True)):
        assert report.startswith(f"line {2 * number + 2}: ")
        assert reason in report
    assert len(imported(table, *(f"good:{number}" for number in range(len(bad))))) == len(bad)
    assert not deals.by_source(table, ["shop:1"])


def test_empty_lines_and_a_byte_order_mark_are_no_deals(table: Table, btd: Btd, tmp_path: Path) -> None:
    result = btd("import", a_file(tmp_path, [b"\xef\xbb\xbf" + json.dumps(a_line()).encode(), "", "  \r", a_line("2")]))

    assert "2 deals created" in result.stdout
    assert "0 bad lines" in result.stdout
    assert len(imported(table, "shop:1", "2")) == 2


def test_a_deal_that_another_import_creates_meanwhile_is_already_there(table: Table, btd: Btd, tmp_path: Path) -> None:
    # The source is there without an answer to by_source: as if it came between that question and the transaction.
    btd("import", a_file(tmp_path, [a_line("2")]))
    (there,) = imported(table, "2")

    from features.imports.importing import Importer, entry  # noqa: PLC0415
    from features.imports.json_lines import Record  # noqa: PLC0415  # what is tried is inside

    importer = Importer(table, now())
    entries = [entry(Record(n, 1, a_line(str(n))), now()) for n in (1, 2, 3)]
    importer._names = topics.brand_names(table)
    importer._create(*importer._prepared(entries))

    assert (importer.report.created, importer.report.existing, importer.report.bad) == (2, 1, {})
    assert imported(table, "2") == [there]
    assert len(imported(table, "1", "2", "3")) == 3


def test_a_file_that_is_not_there_is_not_understood(btd: Btd) -> None:
    result = btd("import", "no-such-file.jsonl", code=2)

    assert "No such file" in result.stderr


def test_a_table_that_was_never_seeded_stops_the_import_with_one_line(
    bare_table: Table, btd: Btd, tmp_path: Path
) -> None:
    result = btd("import", a_file(tmp_path, [a_line()]), code=1)

    assert result.stderr.count("\n") == 1
    assert "btd seed" in result.stderr


def there(table: Table, count: int) -> set[str]:
    """Which of the deals that come first in a file are in the table."""
    return set(deals.by_source(table, list(map(str, range(count)))))


def _heed_sigint() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


WITH_SMALL_WINDOWS = """
from features.imports import importing
from cli import start
importing.WINDOW = 40
start()
"""


@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_import_says_what_is_done_and_completes_when_repeated(
    table: Table, btd: Btd, tmp_path: Path, by: signal.Signals
) -> None:
    done, total = 40, 60
    day = "2025-03-{:02}T10:00:00Z"
    lines = (a_line(str(n), postedAt=day.format(n % 28 + 1), brand=f"Brand {n % 7}") for n in range(total))
    path = a_file(tmp_path, lines)
    command = [sys.executable, "-c", WITH_SMALL_WINDOWS, "import", "-"]

    # More than a window of lines, and then none: the import is done with the window and waits for the rest.
    # What runs in the background ignores SIGINT, and its children inherit that.
    process = subprocess.Popen(command, cwd=ROOT, stdin=PIPE, stdout=PIPE, stderr=PIPE, preexec_fn=_heed_sigint)  # noqa: PLW1509
    assert process.stdin is not None
    process.stdin.write(b"".join(Path(path).read_bytes().splitlines(keepends=True)[: done + 1]))
    process.stdin.flush()
    assert until(lambda: process.poll() is not None or len(there(table, done)) == done)
    process.send_signal(by)
    stdout, stderr = process.communicate(timeout=300)

    assert process.returncode == 130
    assert stderr == b"Interrupted. Run the import again to continue.\n"
    assert stdout.startswith(f"{done:,} deals created\n".encode())

    repeated = btd("import", path)

    assert f"{total - done:,} deals created\n{done:,} deals already there" in repeated.stdout
    found = [deal.deal_id for page in walk(table, ALL_DEALS, limit=100, now=now()) for deal in page.items]
    assert len(found) == len(set(found)) == total


WHILE_IT_LOADS = """
import os, signal, sys
from cli import start

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "cli.main":
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["btd", "import", "-"]
start()
"""


def test_an_import_that_is_interrupted_before_it_has_begun_ends_with_one_line() -> None:
    command = [sys.executable, "-c", WHILE_IT_LOADS]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, timeout=60, check=False, preexec_fn=_heed_sigint)

    assert (ended.returncode, ended.stdout, ended.stderr) == (130, b"", b"Interrupted.\n")


def test_a_refused_line_creates_no_brand(table: Table, btd: Btd, tmp_path: Path) -> None:
    large = a_line("1", brand="Alone", description="\N{GRINNING FACE}" * 2500)
    twice = json.dumps(a_line("2", brand="Twice"))[:-1] + ', "title": "Another"}'

    result = btd("import", a_file(tmp_path, [large, twice]), code=1)

    assert "0 brands created" in result.stdout
    assert "line 1: A deal must have at most" in result.stderr
    assert "line 2: must be JSON: a name is there twice" in result.stderr
