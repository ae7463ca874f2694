"""The proof that a browser's form brings a picture to the resizer."""

from __future__ import annotations

import secrets

from cli import proofs
from cli.proofs import Deployed, Fails, Proof
from shared import pictures, services
from shared.values import identifiers, times
from shared.values.pictures import MAX_UPLOAD, UPLOADS

PICTURE = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000080000000808020000004b6d29dc000000154944415478da63ac0838c1800d3031e0"
    "00835302003c2701a06b6de81f0000000049454e44ae426082"
)
"""A PNG of eight by eight pixels of one colour."""


def upload(site: Deployed) -> str:
    """A browser's form brings a picture into the bucket, and the resizer makes a file of it and takes it out."""
    bucket = services.connect_bucket(site.outputs["PicturesBucket"], **site.arguments)
    deal_id = identifiers.random(times.now(), secrets.token_bytes(16))  # no deal has it, so nothing is shown anywhere
    name, noted = f"{UPLOADS}{deal_id}", {"x-amz-meta-deal": deal_id, "Content-Type": "image/png"}
    form = bucket.form(name, MAX_UPLOAD, 60, {**noted, "x-amz-meta-editor": "probe"})
    made = pictures.make(PICTURE, deal_id).files
    try:
        status, text = proofs.ask("POST", form.url, fields={**form.fields, "file": ("probe.png", PICTURE, "image/png")})
        if status >= 300:
            raise Fails(f"the form was answered {status}: {text[:300]}")
        if not proofs.wait(80, lambda: bucket.read(name, 1) is None):
            raise Fails("the form was taken, and the upload is still there")
        there = [each for each in made if bucket.read(each, 1)]
    finally:
        for each in (name, *made):
            bucket.remove(each)
    return f"{form.url} took it; files made of it: {len(there)}"


PROOFS = {"upload": Proof(upload, 125, "whether a region's own host takes the form")}
