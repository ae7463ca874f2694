"""The function of passkeys with its rights, those of others, and who must have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from features.passkeys import keys
from infra.rights import ACCOUNT_OF_SESSION, NOTES_USE, Access, Right
from infra.rows import Function
from infra.stage import Option, Stage
from shared.data import partitions as p

ARTIFACT = "passkeys"
"""An artifact: what ``lean`` has, with webauthn and cryptography."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkeys(Option):
    """Whether editors must have a passkey to sign in; without this setting they must, except on a laptop."""

    required_of_editors: bool


def required(stage: Stage) -> bool:
    """Whether a stage's editors must have a passkey: as it says, else everywhere but on a laptop, and where the site's
    address isn't known yet, to which passkeys belong."""
    chosen = stage.option(Passkeys)
    if chosen is not None:
        return chosen.required_of_editors
    return not stage.emulated and (stage.front is None or stage.origin is not None)


def _variables(stage: Stage) -> Mapping[str, str]:
    return {"EDITORS_NEED_PASSKEYS": "true"} if required(stage) else {}


_OWN, _HALF, _CHALLENGE = p.of(keys.PASSKEY), p.of(keys.HALF_SESSION), p.of(keys.CHALLENGE)

PASSKEYS: Access = (
    Right("GetItem", (p.SESSION, p.USER, _OWN, _HALF, _CHALLENGE)),
    Right("Query", (_OWN,)),
    Right("PutItem", (p.SESSION, _OWN, _CHALLENGE)),
    NOTES_USE,
    Right("UpdateItem", (_OWN, _HALF)),
    # It counts passkeys, and ends sessions.
    Right("UpdateItem", (p.USER,), attributes=("AccountId", "Passkeys", "SignOuts")),
    Right("DeleteItem", (_OWN, _HALF, _CHALLENGE)),
    Right("ConditionCheckItem", (p.USER,), attributes=ACCOUNT_OF_SESSION),
)
"""It reads no password, and writes of an account only the number of its passkeys and its sign-outs."""

FUNCTIONS = (
    Function(
        name="passkeys",
        access=PASSKEYS,
        artifact=ARTIFACT,
        memory=1769,
        because="Its libraries take 0.13 seconds of a whole processor to import, and half a second of a third of one.",
        pages="/passkeys",
        takes_passwords=True,
        traced=True,
        variables=_variables,
    ),
)

_LISTS: Access = (Right("Query", (_OWN,)), Right("PutItem", (_HALF,)))
_REMOVES: Access = (Right("Query", (_OWN,)), Right("DeleteItem", (_OWN,)))

MORE = {"accounts": _REMOVES, "account": (*_LISTS, *_REMOVES), "remover": _REMOVES}

WORST = {
    f"{keys.PASSKEY}.PublicKey": "sign in with another's password alone",
    f"{keys.HALF_SESSION}.Type": "begin the second step of anyone's sign-in",
}
"""What someone who may write these could do at worst."""
