"""What a deployment is made from, as the document and ``cdk watch`` know it."""

from __future__ import annotations

import json

from local.deploy import _DEPLOYED_FROM
from local.settings import ROOT


def test_the_document_names_what_the_digest_is_made_of() -> None:
    document = (ROOT / "docs" / "local-cloud.md").read_text(encoding="utf-8")

    sources = [name + ("/" if (ROOT / name).is_dir() else "") for name in _DEPLOYED_FROM]

    named = [name for name in sources if "lock" not in name and not name.startswith("requirements/")]
    assert [name for name in named if f"`{name}`" not in document] == []


def test_a_watched_stage_follows_each_folder_that_is_deployed() -> None:
    watched = json.loads((ROOT / "cdk.json").read_text(encoding="utf-8"))["watch"]["include"]

    assert {f"{name}/**" for name in _DEPLOYED_FROM if (ROOT / name).is_dir()} <= set(watched)
