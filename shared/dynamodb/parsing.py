"""A response parser for DynamoDB that does not walk the answer's shape.

DynamoDB's JSON is already what we need: only binary values differ (base64 text, see ``attributes.unmarshal``).
botocore's own parser visits every value of an answer to convert timestamps and blobs, which is most of what a Query
costs a client; ``docs/benchmarks.md`` has the figures.
"""

from __future__ import annotations

from typing import Any

from botocore.model import Shape
from botocore.parsers import JSONParser, ResponseParser, ResponseParserFactory


class PlainJSONParser(JSONParser):
    """The parser of the ``json`` protocol, without conversions."""

    def _handle_json_body(self, raw_body: bytes, _shape: Shape | None) -> Any:
        return self._parse_body_as_json(raw_body)  # type: ignore[attr-defined]  # the stubs leave it out


class PlainParserFactory(ResponseParserFactory):
    """Gives DynamoDB's protocol the plain parser, and every other protocol its own."""

    def create_parser(self, protocol_name: str) -> ResponseParser:
        if protocol_name == "json":
            return PlainJSONParser(**self._defaults)  # type: ignore[attr-defined]  # the stubs leave it out
        return super().create_parser(protocol_name)
