"""WebAuthn: the options for a browser's ``navigator.credentials``, and the check of what it answers.

A user must be verified by the authenticator (a fingerprint, a PIN), and no attestation is asked for: which make of
authenticator somebody has is no business of ours. https://www.w3.org/TR/webauthn-3/
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import webauthn
from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
from webauthn.helpers.structs import (
    AttestationFormat,
    AuthenticatorSelectionCriteria,
    PublicKeyCredentialDescriptor,
    ResidentKeyRequirement,
    UserVerificationRequirement,
)

from features.passkeys.data import NotProved
from features.passkeys.models import Passkey
from shared.http.requests import parse_object
from shared.models.members import User

NAME = "Big Time Deals"
MOST_CHARACTERS = 8_000
"""Characters of an answer. The longest that an authenticator may make have some 4,000."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A new passkey, as an authenticator made it."""

    credential_id: str
    public_key: str
    sign_count: int


def creation(user: User, known: Iterable[Passkey], origin: str) -> tuple[str, bytes]:
    """The options for a new passkey, as JSON, and their challenge."""
    options = webauthn.generate_registration_options(
        rp_id=_host(origin),
        rp_name=NAME,
        user_id=user.account_id.encode(),
        user_name=user.username,
        user_display_name=user.name,
        exclude_credentials=_descriptors(known),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.DISCOURAGED, user_verification=UserVerificationRequirement.REQUIRED
        ),
    )
    return webauthn.options_to_json(options), options.challenge


def request(known: Iterable[Passkey], origin: str) -> tuple[str, bytes]:
    """The options for a proof by one of a user's passkeys, as JSON, and their challenge."""
    options = webauthn.generate_authentication_options(
        rp_id=_host(origin),
        allow_credentials=_descriptors(known),
        user_verification=UserVerificationRequirement.REQUIRED,
    )
    return webauthn.options_to_json(options), options.challenge


def challenge_of(answer: str) -> bytes:
    """The challenge that an answer says it is to. Raises NotProved for a text that is no answer."""
    try:
        response = _parsed(answer)["response"]
        client = parse_object(base64url_to_bytes(response["clientDataJSON"]).decode())
        return base64url_to_bytes((client or {})["challenge"])
    except Exception as error:  # whatever is wrong with a stranger's bytes
        raise NotProved from error


def credential_of(answer: str) -> str:
    """The id of the passkey that an answer says it is of. Raises NotProved."""
    try:
        return bytes_to_base64url(base64url_to_bytes(_parsed(answer)["id"]))
    except Exception as error:  # whatever is wrong with a stranger's bytes
        raise NotProved from error


def registered(answer: str, challenge: bytes, origin: str) -> Registered:
    """The new passkey in an answer. Raises NotProved for any but a verified user's answer to us."""
    try:
        verified = webauthn.verify_registration_response(
            credential=_parsed(answer),
            expected_challenge=challenge,
            expected_rp_id=_host(origin),
            expected_origin=origin,
            require_user_verification=True,
        )
    except Exception as error:  # whatever is wrong with a stranger's bytes
        raise NotProved from error
    if verified.fmt != AttestationFormat.NONE:
        raise NotProved
    return Registered(
        bytes_to_base64url(verified.credential_id),
        bytes_to_base64url(verified.credential_public_key),
        verified.sign_count,
    )


def proved(answer: str, challenge: bytes, passkey: Passkey, user: User, origin: str) -> int:
    """The authenticator's count of signatures, from an answer that proves a passkey. Raises NotProved."""
    try:
        parsed = _parsed(answer)
        handle = parsed["response"].get("userHandle")
        is_ours = not handle or base64url_to_bytes(handle) == user.account_id.encode()
        verified = webauthn.verify_authentication_response(
            credential=parsed,
            expected_challenge=challenge,
            expected_rp_id=_host(origin),
            expected_origin=origin,
            credential_public_key=base64url_to_bytes(passkey.public_key),
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    except Exception as error:  # whatever is wrong with a stranger's bytes
        raise NotProved from error
    if not is_ours:
        raise NotProved
    return verified.new_sign_count


def _parsed(answer: str) -> dict[str, Any]:
    if len(answer) > MOST_CHARACTERS:
        raise ValueError("too long")
    return parse_object(answer) or {}


def _host(origin: str) -> str:
    """The relying party's id: the site's host."""
    return urlsplit(origin).hostname or ""


def _descriptors(known: Iterable[Passkey]) -> list[PublicKeyCredentialDescriptor]:
    return [PublicKeyCredentialDescriptor(id=base64url_to_bytes(each.credential_id)) for each in known]
