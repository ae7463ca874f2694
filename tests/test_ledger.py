"""The ledger of claims about AWS: it has every page of AWS's that is named anywhere, and a proof of each claim."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from cli.probe import CLAIM, LEDGER, PROOFS

ROOT = Path(__file__).resolve().parent.parent
TEXT = LEDGER.read_text(encoding="utf-8")
CLAIMS: list[dict[str, Any]] = [
    {**found.groupdict(), "pages": re.findall(r"\]\(([^)]+)\)", found["pages"])} for found in CLAIM.finditer(TEXT)
]
PAGE = re.compile(r"(?<![\w.-])(?:docs\.aws\.amazon\.com|aws\.amazon\.com|repost\.aws)/[\w./-]+")
PACKAGES = ("cli", "functions", "infra", "local", "shared", "tools")
FILES = [
    *ROOT.glob("*.md"),
    *(file for file in (ROOT / "docs").glob("*.md") if file.name != "ledger.md"),
    *(ROOT / "shared" / "learn").rglob("*.toml"),
    *(
        file
        for name in ("cli", "functions", "infra", "local", "shared", "tools")
        for file in (ROOT / name).rglob("*.py")
    ),
]


def test_each_section_of_the_ledger_is_a_claim_and_its_table_counts_them() -> None:
    counted = dict(re.findall(r"^\| (bet|seen|documented) \| .* \| (\d+) \|$", TEXT, re.MULTILINE))

    assert [claim["id"] for claim in CLAIMS] == re.findall("^## (.+)$", TEXT, re.MULTILINE)
    assert counted == {state: str(number) for state, number in Counter(claim["state"] for claim in CLAIMS).items()}


def test_each_page_of_aws_that_is_named_anywhere_belongs_to_a_claim() -> None:
    claimed = {page.removeprefix("https://").rstrip("/") for claim in CLAIMS for page in claim["pages"]}

    named = {
        (str(file.relative_to(ROOT)), page.rstrip("./"))
        for file in FILES
        # An address that is too long for its line goes on at the next one's beginning.
        for page in PAGE.findall(re.sub(r"/\n\s*(?:# )?(?=[a-z-]+\.html)", "/", file.read_text(encoding="utf-8")))
    }

    assert [(file, page) for file, page in sorted(named) if page not in claimed] == [], "give docs/ledger.md a claim"


def test_claims_have_names_of_their_own_and_the_biggest_bet_comes_first() -> None:
    names = [claim["id"] for claim in CLAIMS]
    states = [claim["state"] for claim in CLAIMS]

    assert len({*names}) == len(names)
    assert names[0] == "leading-keys-of-an-index"
    assert states == sorted(states, key=["bet", "seen", "documented"].index)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim["id"])
def test_a_claim_says_what_rests_on_it_and_which_command_proves_it(claim: dict[str, Any]) -> None:
    assert (ROOT / claim["rests"]).is_file()
    assert claim["says"].endswith(".")
    assert claim["pages"]


def test_each_proof_belongs_to_a_claim_and_they_take_ten_minutes_at_most() -> None:
    proved = {claim["proof"] for claim in CLAIMS}

    assert {f"btd probe {name}" for name in PROOFS} <= proved
    assert {proof for proof in proved if re.fullmatch("btd probe [a-z]+", proof)} == {f"btd probe {n}" for n in PROOFS}
    assert sum(proof.seconds for proof in PROOFS.values()) <= 600
