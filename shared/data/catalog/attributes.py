"""The attributes of a deal's item: those of ``Deal``, and those of features' values."""

from __future__ import annotations

from collections.abc import Mapping

from shared import features, hooks
from shared.models.catalog import Deal
from shared.values.stored import Attribute, names_of


def declared() -> dict[str, type | Attribute]:
    """What declares each attribute. Raises Broken for one that a feature shares with another or with ``Deal``."""

    def of_feature(of: hooks.Fields) -> Mapping[str, type | Attribute]:
        return {name: each for each in of.STORED for name in names_of(each)}

    return features.merged(hooks.Fields, of_feature, dict.fromkeys(names_of(Deal), Deal))


OF_FEATURES = tuple(dict.fromkeys(each for each in declared().values() if each is not Deal))
"""What features declare."""
