"""Addresses on the internet (links to shops, and networks), and which deals are one card.

A link says which product it is of, and where the picture comes in the size that is shown. Of networks it says
which are around an address: one customer may have all of a network's IPv6 addresses. The deals of one product at one
price are one card, with its colours and sizes.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote, urlsplit, urlunsplit

_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""Characters that have a meaning in an address, and those of what is encoded already."""

_RESIZING = "cdn.shopify.com"
"""The host of most shops' pictures; its shops' own hosts serve them below ``/cdn/shop/``. Both take a width."""


TRACKING = frozenset(
    "__hsfp __hssc __hstc __s _hsenc _openstat dclid fbclid gbraid gclid hsctatracking igshid mc_eid ml_subscriber "  # noqa: SIM905  # easier to read
    "ml_subscriber_hash mkt_tok msclkid oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk oly_anon_id oly_enc_id "
    "rb_clickid s_cid twclid unicorn_click_id vero_conv vero_id wbraid wickedid yclid "
    "_ga _gl _ke _kx gad_campaignid gad_source gclsrc epik irclickid irgwc li_fat_id mc_cid srsltid ttclid".split()
)
"""Parameters of a query that say where a reader came from, in lower case: those that Firefox strips, and others that
advertising networks and mail programs document. All that begin with ``utm_`` are, too."""

_UNRESERVED = re.compile(r"[A-Za-z0-9._~-]")


def host(link: str) -> str:
    """The shop's name as readers know it: the host without ``www.``; empty where there is none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def encoded(link: str) -> str:
    """An address as headers hold it (RFC 3986): percent-encoded, the host's name in its ASCII form."""
    try:
        parts = urlsplit(link)
        shop = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except ValueError:  # UnicodeError is one
        return quote(link, safe=_KEPT)
    return urlunsplit([parts.scheme, shop, *(quote(part, safe=_KEPT) for part in parts[2:])])


def product(link: str) -> str:
    """The identity of a product: its address without scheme, ``www.`` and tracking, as all its spellings have it.

    The host's name is in lower case, percent-encoding is normalised (RFC 3986, 6.2.2), and the parameters of the query
    are sorted. A fragment counts where it is a path, as in ``#!/lamp``.
    """
    try:
        parts = urlsplit(address := encoded(link))
        port = f":{parts.port}" if parts.port not in (None, 80, 443) else ""
    except ValueError:
        return link
    path, *pairs = map(_normalised, (parts.path, *parts.query.replace("+", "%20").split("&")))
    query = "&".join(sorted(pair for pair in pairs if pair and not _is_tracking(pair.partition("=")[0])))
    route = _normalised(parts.fragment) if parts.fragment.startswith(("/", "!/")) else ""
    return f"{host(address)}{port}{urlunsplit(('', '', path.rstrip('/'), query, route))}"


def page(link: str) -> str:
    """The address of a product's page without its query and fragment, which 1.0.0 took for the product."""
    try:
        parts = urlsplit(link)
    except ValueError:
        return link
    return f"{host(link)}{parts.path.rstrip('/')}"


def product_hash(link: str) -> str:
    """A product's identity in 32 hexadecimal digits, for keys."""
    return hashed(product(link))


def hashed(text: str) -> str:
    """A text in 32 hexadecimal digits."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:32]


def _normalised(text: str) -> str:
    """A part of an address with escapes in capitals, and none for characters that need none."""

    def escape(found: re.Match[str]) -> str:
        character = chr(int(found[0][1:], 16))
        return character if _UNRESERVED.fullmatch(character) else found[0].upper()

    return re.sub("%[0-9A-Fa-f]{2}", escape, text)


def _is_tracking(name: str) -> bool:
    known = unquote(name).lower()
    return known in TRACKING or known.startswith("utm_")


def picture(image: str | None, width: int) -> str | None:
    """The address of a picture in about a width, where its host makes one; None for what is not on HTTPS."""
    if image is None or not image.startswith("https://"):
        return None
    try:
        parts = urlsplit(image)
    except ValueError:
        return None
    resizes = parts.hostname == _RESIZING or parts.path.startswith("/cdn/shop/")
    if not resizes or parts.fragment or "width=" in parts.query:
        return image
    return f"{image}{'&' if parts.query else '?'}width={width}"


def networks_around(address: str, widths: Iterable[int]) -> list[str]:
    """The networks that an address is in: itself alone if it is IPv4, or one of each width, in their order.

    A text that is no address is in the network ``unknown``.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ["unknown"]
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped  # their networks would be one and the same for everyone
    if ip.version == 4:
        return [str(ip)]
    return [str(ipaddress.ip_network(f"{ip.packed.hex(':', 2)}/{width}", strict=False)) for width in widths]


_ENDING = re.compile(r"(?:, | [-\u2013\u2014|] | \()[^,|(\u2013\u2014]*$")


_COLOUR = re.compile(r"(?:, | [-\u2013\u2014|] )([^,|()\u2013\u2014]*)$")
"""What a title ends with that its page's address may end with, too. What is in parentheses is often another product."""


def likenesses(link: str, title: str) -> tuple[str, str]:
    """Two texts of a deal: deals are of one product, or its colours and sizes, where they share one of them.

    The first is the product. The second is the page at the shop with the title, both without the colour or size that
    they may end with: ``Trail runner, blue`` at ``/trail-runner-blue``, as many shops have a page for each colour.
    Titles distinguish colours of one page from products that only share its path.
    """
    at, colour = page(link), _COLOUR.search(title)
    if colour and (ending := re.sub("[^a-z0-9]+", "-", colour[1].casefold()).strip("-")):
        at = at.removesuffix(f"-{ending}")
    return product(link), f"{at} {_ENDING.sub('', title).casefold()}"


_SIGNS = " -\u2013\u2014|:,"
"""What stands between the parts of a title."""

LONGEST = 40
"""Characters of a name that a card has room for, in two lines."""

_LAST = 14
"""The characters at the end of a longer name that its last words may have: there, products of one kind differ."""


_SPLIT = re.compile(r"\).|^[^(]*\)$")
"""Whether an ending has only a part of what is in parentheses, or more after them."""


def named(title: str, brand: str) -> tuple[str, str]:
    """A title as a card shows it, and the colour or size that it ends with or "", which has a line of its own.

    The brand, which the card names above it, is not repeated. Of a title of more than ``LONGEST`` characters, a longer
    ending has that line, too; of a name that is still longer, the first and the last words are shown.
    """
    name, kind = title, ""
    if name.casefold().startswith(f"{brand.casefold()} "):
        name = name[len(brand) :].lstrip(_SIGNS) or title
    ending = _ENDING.search(name)
    room = LONGEST if len(name) > LONGEST else LONGEST // 2
    if ending and ending.start() and len(ending[0]) <= room and not _SPLIT.search(ending[0]):
        name, kind = name[: ending.start()], ending[0].strip(" ,-\u2013\u2014|()")
    return name if len(name) <= LONGEST else _cut(name), kind


def _cut(name: str) -> str:
    """The first and the last words of a name, in ``LONGEST`` characters."""
    *words, last = name.split()
    last = last[-_LAST:]
    while words and len(words[-1]) + 1 + len(last) <= _LAST:
        last = f"{words.pop()} {last}"
    room = LONGEST - len(last) - 2
    first = name[: room + 1].rpartition(" ")[0] or name[:room]
    return f"{first.rstrip(_SIGNS)}\N{HORIZONTAL ELLIPSIS} {last}"


def numbered(shown: Iterable[tuple[Iterable[str], str]]) -> Iterator[int]:
    """The number of the card that each of some deals is on, from 0: deals are their likenesses and their prices."""
    numbers: dict[tuple[str, str], int] = {}
    cards = 0
    for texts, price in shown:
        own = [(text, price) for text in texts]
        number = next((numbers[each] for each in own if each in numbers), cards)
        cards += number == cards
        for each in own:
            numbers.setdefault(each, number)
        yield number
