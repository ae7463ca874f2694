"""The pictures' bucket in S3.

After throttling or a broken connection a request is tried again, within the time that an invocation has.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared.dynamodb import aws_errors
from shared.dynamodb.aws_errors import Budget, Service
from shared.dynamodb.client import client_of
from shared.errors import DealsError, Unavailable

if TYPE_CHECKING:
    from botocore.exceptions import ClientError
    from mypy_boto3_s3 import S3Client  # noqa: F401  # named in quotes

REPLACED, KEPT = ({"TagSet": [{"Key": "replaced", "Value": value}]} for value in ("yes", "no"))
"""The tag of files that nothing names any more, which the bucket removes within some days, and the tag that replaces it
when something names them again."""

_NOTHING = ("NoSuchKey", "AccessDenied")
"""S3's answer for a missing file: the second one if the role may not list the bucket's files."""


class Missing(Unavailable):
    """There is no such file, or it is refused."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of a bucket. ``at`` is when it was sent (ISO 8601, whole seconds); ``noted`` is its sender's metadata."""

    content: bytes
    at: str
    noted: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Form:
    """A form that sends one file from a browser to S3: its address and hidden fields; the field ``file`` comes last."""

    url: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Bucket(Service["S3Client"]):
    """An S3 bucket."""

    called = "The bucket"
    name: str

    def read(self, key: str, most: int) -> File | None:
        """Read a file, at most ``most + 1`` bytes of it; None if there is none."""
        try:
            answer = self.call(self.client.get_object, Bucket=self.name, Key=key, Range=f"bytes=0-{most}")
        except Missing:
            return None
        at = answer["LastModified"].strftime("%Y-%m-%dT%H:%M:%SZ")
        return File(answer["Body"].read(), at, answer.get("Metadata", {}))

    def write(self, key: str, content: bytes, media_type: str, **noted: str) -> None:
        """Write a file. Its name must be new or contain its content's hash; ``noted`` is its metadata, as in a form."""
        self.call(
            self.client.put_object, Bucket=self.name, Key=key, Body=content, ContentType=media_type, Metadata=noted
        )

    def remove(self, key: str) -> None:
        """Remove a file, if it is there."""
        self.call(self.client.delete_object, Bucket=self.name, Key=key)

    def replaced(self, key: str) -> None:
        """Have the bucket remove a file after some days, when no cached page names it any more."""
        self._tag(key, REPLACED)

    def kept(self, key: str) -> None:
        """Have the bucket keep a file after all."""
        self._tag(key, KEPT)

    def _tag(self, key: str, tags: Any) -> None:
        with suppress(Missing):
            self.call(self.client.put_object_tagging, Bucket=self.name, Key=key, Tagging=tags)

    def form(self, key: str, most: int, seconds: int, fields: Mapping[str, str]) -> Form:
        """A form that sends an image of at most ``most`` bytes as ``key``, for some seconds. No request is made."""
        conditions: list[Any] = [
            ["content-length-range", 1, most],
            ["starts-with", "$Content-Type", "image/"],
            *({name: value} for name, value in fields.items() if name != "Content-Type"),
        ]
        made = self.client.generate_presigned_post(
            self.name, key, Fields=dict(fields), Conditions=conditions, ExpiresIn=seconds
        )
        return Form(made["url"], made["fields"])

    def meaning(self, error: ClientError) -> DealsError:
        """Our error for a refusal."""
        if error.response["Error"]["Code"] in _NOTHING:
            return Missing(f"The bucket has no such file, or refuses: {error}")
        return aws_errors.domain_error(error, self.called)


def connect(name: str, budget: Budget | None = None, /, **client_arguments: Any) -> Bucket:
    """The bucket of a name, with the credentials that the environment gives boto3. No request outlasts a budget."""
    budget = budget or Budget()
    return Bucket(name, client=client_of("s3", budget, client_arguments), budget=budget)
