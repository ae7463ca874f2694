"""A response parser that does not walk the answer's shape, and never takes a broken answer for an empty one.

DynamoDB's JSON is already what we need: only binary values differ (base64 text, see ``attributes.unmarshal``).
botocore's own parser visits every value of an answer to convert timestamps and blobs, which is most of what a Query
costs a client; ``docs/benchmarks.md`` has the figures. It also takes a body that is not JSON for an error's message: a
page that a proxy sent with status 200 would read as an item that does not exist.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

from botocore.exceptions import HTTPClientError
from botocore.model import Shape
from botocore.parsers import JSONParser, ResponseParser, ResponseParserFactory

CHECKSUM = "x-amz-crc32"
"""The header with the checksum of a body. DynamoDB sends it with each answer, and the AWS SDKs compare it; it is not in
DynamoDB's documentation."""


class BrokenAnswer(HTTPClientError):
    """An answer arrived, but not as it was sent."""

    fmt = "The answer is broken: {error}"


class PlainJSONParser(JSONParser):
    """The parser of the ``json`` protocol, without conversions. Raises BrokenAnswer."""

    def parse(self, response: Any, shape: Shape) -> Any:
        told = response["headers"].get(CHECKSUM)
        if told is not None and told != str(zlib.crc32(response["body"])):
            raise BrokenAnswer(error="its checksum is another")
        return super().parse(response, shape)

    def _handle_json_body(self, raw_body: bytes, _shape: Shape | None) -> Any:
        return self._parse_body_as_json(raw_body)

    def _parse_body_as_json(self, body_contents: bytes) -> dict[str, Any]:
        try:
            document = json.loads(body_contents)
        except ValueError as error:
            raise BrokenAnswer(error="it is no JSON") from error
        if not isinstance(document, dict):
            raise BrokenAnswer(error="it is no JSON object")
        return document


class PlainParserFactory(ResponseParserFactory):
    """Gives the protocol of DynamoDB and SQS the plain parser, and every other protocol its own."""

    def create_parser(self, protocol_name: str) -> ResponseParser:
        if protocol_name == "json":
            return PlainJSONParser(**self._defaults)  # type: ignore[attr-defined]  # the stubs leave it out
        return super().create_parser(protocol_name)
