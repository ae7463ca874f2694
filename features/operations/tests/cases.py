"""Operations in tests of all features."""

from __future__ import annotations

OPERATED = ("features/operations/README.md",)
NOT_TYPED = {
    "BTD_STACK=BigTimeDeals-dev btd teardown": "it would delete the cloud of the test",
    "BTD_STACK=BigTimeDeals-prod btd teardown ": "the same",
    "BTD_STACK=BigTimeDeals-dev ": "an account at AWS",
    "btd probe ": "it proves what AWS does",
    "btd restore-drill": "another test restores a table",
    "btd restore-drill ": "the same",
}
