"""An authenticator in software: what a browser and a security key answer, and all that a forger may change of it."""

from __future__ import annotations

import hashlib
import json
import secrets
from dataclasses import dataclass, field
from typing import Any

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from webauthn.helpers import bytes_to_base64url

_PRESENT, _VERIFIED, _ATTESTED = 0x01, 0x04, 0x40


@dataclass(slots=True)
class Authenticator:
    """One passkey. ``origin`` is what its browser says of the page, ``verifies`` whether it asks for a PIN."""

    origin: str = "https://deals.example"
    host: str = "deals.example"
    verifies: bool = True
    count: int = 0
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))

    def creates(self, options: str) -> str:
        """The answer to the options for a new passkey."""
        numbers = self.key.public_key().public_numbers()
        cose = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32), -3: numbers.y.to_bytes(32)}
        attested = bytes(16) + len(self.credential_id).to_bytes(2) + self.credential_id + cbor2.dumps(cose)
        made = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": self._said(_ATTESTED) + attested})
        client = self._client("webauthn.create", options)
        return self._answer({"clientDataJSON": client, "attestationObject": made})

    def proves(self, options: str, user: str | None = None) -> str:
        """The answer to the options for a proof; ``user`` is the account that it says it belongs to."""
        self.count += 1
        said, client = self._said(), self._client("webauthn.get", options)
        signature = self.key.sign(said + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        whose = {"userHandle": user.encode()} if user else {}
        return self._answer({"clientDataJSON": client, "authenticatorData": said, "signature": signature, **whose})

    def _said(self, more: int = 0) -> bytes:
        flags = _PRESENT | (_VERIFIED if self.verifies else 0) | more
        return hashlib.sha256(self.host.encode()).digest() + bytes([flags]) + self.count.to_bytes(4)

    def _client(self, kind: str, options: str) -> bytes:
        told = {"type": kind, "challenge": json.loads(options)["challenge"], "origin": self.origin}
        return json.dumps({**told, "crossOrigin": False}).encode()

    def _answer(self, response: dict[str, bytes]) -> str:
        own = bytes_to_base64url(self.credential_id)
        parts: dict[str, Any] = {name: bytes_to_base64url(part) for name, part in response.items()}
        return json.dumps({"id": own, "rawId": own, "type": "public-key", "response": parts})
