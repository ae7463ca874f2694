"""Files that are meant to do harm, each with what becomes of it: the records that are good, and the first fault."""

from __future__ import annotations

import gzip
import json
from typing import NamedTuple

HEAD = b"id\ttitle\tlink\tprice\tbrand\tproduct_type\tdescription\texpiration_date\n"
GOOD = b"a\tMug\thttps://up.example/a\t9.00 USD\tLumen\tHome\tBlue\t\n"
GOOD_JSON = json.dumps(
    {"sourceId": "a", "title": "Mug", "link": "https://up.example/a", "price": "9.00", "brand": "B", "category": "home"}
).encode()
RSS = b'<?xml version="1.0"?><rss xmlns:g="http://base.google.com/ns/1.0"><channel>%s</channel></rss>'
ITEM = (
    b"<item><g:id>a</g:id><g:title>Mug</g:title><g:link>https://up.example/a</g:link><g:price>9 USD</g:price>"
    b"<g:brand>Lumen</g:brand><g:product_type>Home</g:product_type>%s</item>"
)


class Hostile(NamedTuple):
    """A file, the number of its good records, and a part of what is said of the rest, if anything is."""

    content: bytes
    good: int
    said: str


def _row(**changed: bytes) -> bytes:
    values = dict(zip(HEAD.decode().strip().split("\t"), GOOD.rstrip(b"\n").split(b"\t"), strict=True)) | changed
    return b"\t".join(values.values()) + b"\n"


def _array(*values: bytes) -> bytes:
    return b"[" + b", ".join([*values, GOOD_JSON]) + b"]"


def _lines(*values: bytes) -> bytes:
    return b"\n".join([*values, GOOD_JSON, b""])


HOSTILE: dict[str, Hostile] = {
    "a number of 4,301 digits": Hostile(_array(b"9" * 4301), 1, "has a number of more than 100 digits"),
    "a price of a million digits": Hostile(_array(b'{"price": -' + b"9" * 900_000 + b"}"), 1, "more than 100 digits"),
    "a number without an end": Hostile(_array(b"1e999999999"), 1, "has a number of more than 100 digits"),
    "an exponent of 20 digits": Hostile(
        _array(b'{"price": 1e99999999999999999999}', b"-1.5E-99999999999999999999"), 1, "more than 100 digits"
    ),
    "20,000 arrays within each other": Hostile(_array(b"[" * 20_000 + b"]" * 20_000), 1, "more than 64 arrays"),
    "20,000 objects without an end": Hostile(b"[" + b'{"a":' * 20_000, 0, "cannot be read at all"),
    "a line of 20,000 arrays": Hostile(_lines(b'{"a": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"), 1, "nested too deep"),
    "a line of 5,000 digits": Hostile(_lines(b'{"a": ' + b"9" * 5_000 + b"}"), 1, "must be JSON"),
    "lines of 940 to 999 arrays": Hostile(
        _lines(*(b'{"a": ' + b"[" * depth + b"]" * depth + b"}" for depth in range(940, 1000))), 1, "more than 64"
    ),
    "products within each other": Hostile(
        b'{"@graph": ' * 60 + b'{"@type": "Product", "name": "a"}' + b"}" * 60, 0, "is missing"
    ),
    "scripts without an end": Hostile(HEAD + _row(description=b"<script " * 34_000) + GOOD, 2, ""),
    "tags within each other": Hostile(HEAD + _row(description=b"<div>" * 50_000) + GOOD, 2, ""),
    "tags that are opened again": Hostile(
        HEAD + _row(description=b"".join(b"<b i=%d>" % i for i in range(6_000)) + b"<p>" * 6_000) + GOOD, 2, ""
    ),
    "a body of 140 KB": Hostile(HEAD + _row(description=b"<p>warm wool " * 11_000) + GOOD, 2, ""),
    "a category of 100,000 parts": Hostile(HEAD + _row(product_type=b"a>" * 100_000) + GOOD, 1, "is not mapped"),
    "a price of 100,000 parts": Hostile(HEAD + _row(price=b"1 " * 100_000 + b"x y") + GOOD, 1, "is no amount"),
    "a time of 100,000 parts": Hostile(HEAD + _row(expiration_date=b"(1 " * 100_000) + GOOD, 2, ""),
    "a link of 100,000 brackets": Hostile(HEAD + _row(link=b"https://" + b"[" * 100_000) + GOOD, 2, ""),
    "1,000 open quotation marks": Hostile(HEAD + b'"a\tb\tc\td\n' * 1_000, 0, "quotation mark that nothing closes"),
    "a head of quotation marks": Hostile(HEAD[:-1] + b"\t" + b'"' * 100_000 + b"\n" + GOOD, 1, ""),
    "100,000 columns": Hostile(HEAD[:-1] + b"".join(b"\tc%d" % i for i in range(99_000)) + b"\n" + GOOD, 1, ""),
    "20,000 elements within each other": Hostile(b"<rss>" + b"<a>" * 20_000, 0, "more than 64 elements"),
    "100,000 attributes": Hostile(
        RSS % (ITEM % b"" + b"<i " + b'a="1" ' * 100_000), 1, "cannot be read after record 1"
    ),
    "entities of entities": Hostile(
        b'<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;">]><rss>&b;</rss>', 0, "XML entities"
    ),
    "an entity of a file": Hostile(
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss>&a;</rss>', 0, "XML entities"
    ),
    "an unknown encoding": Hostile(b'<?xml version="1.0" encoding="klingon"?><rss></rss>', 0, "unknown encoding"),
    "an encoding of no text": Hostile(b'<?xml version="1.0" encoding="zlib"?><rss></rss>', 0, "cannot be read at all"),
    "100,000 entities of HTML": Hostile(RSS % (b"&nbsp;" * 100_000 + ITEM % b""), 1, ""),
    "100 MB in a small archive": Hostile(gzip.compress(b" " * 100_000_000 + b"\n" + GOOD_JSON + b"\n"), 1, "64 KB"),
    "an archive that breaks off": Hostile(gzip.compress(GOOD_JSON + b"\n")[:-12], 0, "cannot be read at all"),
    "half of a letter": Hostile(HEAD.decode().encode("utf-16") + b"\x00\xd8", 0, "cannot be read at all"),
}
