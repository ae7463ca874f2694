"""What the functions of pictures find in their environment."""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from features.pictures.models import BUCKET
from shared.runtime.environment import budget, credentials

if TYPE_CHECKING:
    from features.pictures.data.bucket import Bucket


@cache
def bucket() -> Bucket:
    """The pictures' bucket, connected once per execution environment."""
    from features.pictures.data.bucket import connect  # noqa: PLC0415  # most requests need no file

    return connect(os.environ[BUCKET], budget(), **credentials())
