"""The fields of a deal's form."""

from __future__ import annotations

from enum import StrEnum
from types import SimpleNamespace

import pytest

from features.desk import deal_form


class Condition(StrEnum):
    """An attribute with a few values, as ``docs/growing.md`` adds one."""

    LIKE_NEW = "like_new"
    USED = "used"


def test_attributes_that_a_model_adds_are_typed_or_chosen_from_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    kinds = {"condition": Condition, "rating": int}
    monkeypatch.setattr(deal_form, "TYPED", {name: name for name in kinds})
    monkeypatch.setattr(deal_form, "TYPES", kinds)
    body = SimpleNamespace(model_fields=dict.fromkeys(kinds, SimpleNamespace(description="As the shop says.")))
    monkeypatch.setattr(deal_form, "NewDeal", body)

    condition, rating = (deal_form._of_rule(name) for name in kinds)

    assert (condition.label, condition.hint) == ("Condition", "As the shop says.")
    assert condition.choices == {"": "Not stated", "like_new": "Like new", "used": "Used"}
    assert (rating.choices, rating.more) == ("", {"inputmode": "numeric"})
