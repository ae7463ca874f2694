"""Make a picture of an upload, or refuse it with a reason.

Readers only get files made here from pixels, never bytes of an upload. A child process decodes (``decoder.py``), so
whatever a file does there only refuses the upload.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from features.isolation.children import Broken, Limits, TooSlow, answers
from features.pictures.models import MAX_UPLOAD, TOO_SLOW, UNREADABLE, Picture, Refused

DECODER = "features.pictures.decoder"

LIMITS = Limits(processor=20, total=20, memory=1_200_000_000, answer=MAX_UPLOAD, silence=40)
"""Each is several times what the largest picture takes, and less than its function has (``rights.py``)."""


@dataclass(frozen=True, slots=True)
class Made:
    """A picture, and its files in the bucket by name."""

    picture: Picture
    files: Mapping[str, bytes]


def make(content: bytes, deal_id: str, limits: Limits = LIMITS) -> Made:
    """Make a picture from a file, whose content decides its format. Raises Refused.

    The hash includes the deal's id, so no two deals share files, and unused ones can be deleted. Raises
    CalledProcessError if the child can't start.
    """
    if len(content) > MAX_UPLOAD:
        raise Refused(f"It has more than {MAX_UPLOAD // 1_000_000} MB.")
    try:
        (answer,) = answers(DECODER, io.BytesIO(content), limits)
        return _made(json.loads(answer), deal_id)
    except TooSlow as error:
        raise Refused(TOO_SLOW) from error
    except (Broken, LookupError, RecursionError, TypeError, ValueError) as error:
        raise Refused(UNREADABLE) from error


def _made(answer: dict[str, Any], deal_id: str) -> Made:
    """The picture of a child's answer. Raises Refused with the reason that it gives, and others if it is none."""
    if "refused" in answer:
        raise Refused(answer["refused"])
    files = [base64.b64decode(each) for each in answer["files"]]
    digest = hashlib.sha256(deal_id.encode() + b"".join(files)).hexdigest()[:20]
    picture = Picture.parse("{} {}x{} {}".format(digest, *answer["size"], answer["colour"]))
    return Made(picture, dict(zip(picture.files, files, strict=True)))
