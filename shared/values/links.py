"""Web addresses (links to shops, networks), and which deals share a card.

A link identifies its product, and its picture in a displayed size. Networks are those around an address: one customer
may have all IPv6 addresses of a network. Deals of one product at one price share a card, which shows its colours and
sizes.
"""

from __future__ import annotations

import hashlib
import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from urllib.parse import quote, unquote, urlsplit, urlunsplit

_KEPT = "%/:?#[]@!$&'()*+,;=~"
"""Characters with a meaning in an address, and those of escapes."""

_RESIZING = "cdn.shopify.com"
"""The host of most shops' pictures; the shops' own hosts serve them below ``/cdn/shop/``. Both take a width."""


TRACKING = frozenset(
    "__hsfp __hssc __hstc __s _hsenc _openstat dclid fbclid gbraid gclid hsctatracking igshid mc_eid ml_subscriber "  # noqa: SIM905  # easier to read
    "ml_subscriber_hash mkt_tok msclkid oft_c oft_ck oft_d oft_id oft_ids oft_k oft_lk oft_sk oly_anon_id oly_enc_id "
    "rb_clickid s_cid twclid unicorn_click_id vero_conv vero_id wbraid wickedid yclid "
    "_ga _gl _ke _kx gad_campaignid gad_source gclsrc epik irclickid irgwc li_fat_id mc_cid srsltid ttclid".split()
)
"""Query parameters, in lower case, that say where a reader came from: those that Firefox strips, and others that
advertising networks and mail programs document. All that begin with ``utm_`` count, too."""

_USED_TOGETHER = {"LATIN", "CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO"}

_UNRESERVED = r"[A-Za-z0-9._~-]"


def host(link: str) -> str:
    """A shop's name as readers know it: the host without ``www.``; empty if there is none."""
    try:
        return (urlsplit(link).hostname or "").removeprefix("www.")
    except ValueError:
        return ""


def shown_host(link: str) -> str:
    """A shop's name for a button: in its ASCII form (``xn--``) if it mixes scripts, as lookalikes of other names do.

    Browsers go by similar rules (https://chromium.googlesource.com/chromium/src/+/main/docs/idn.md). East Asian scripts
    are used together, and before a Latin ending. A sign of no script, such as one that looks like a slash, counts as
    another script.
    """
    name = host(link)
    scripts, in_labels = _scripts(name), [_scripts(label) for label in name.split(".")]
    mixed = len(scripts) > 1 and not scripts <= _USED_TOGETHER
    if not mixed and all(len(each) < 2 or "LATIN" not in each for each in in_labels):
        return name
    try:
        return name.encode("idna").decode()
    except UnicodeError:
        return quote(name)


def _scripts(name: str) -> set[str]:
    """The scripts of a name's letters, by the first words of their names, and of all signs that aren't ASCII."""
    return {unicodedata.name(each, "?").split()[0] for each in name if each.isalpha() or not each.isascii()}


def encoded(link: str) -> str:
    """An address in the form of headers (RFC 3986): percent-encoded, with an ASCII host."""
    try:
        parts = urlsplit(link)
        shop = parts.netloc if parts.netloc.isascii() else parts.netloc.encode("idna").decode()
    except ValueError:  # UnicodeError is one
        return quote(link, safe=_KEPT)
    return urlunsplit([parts.scheme, shop, *(quote(part, safe=_KEPT) for part in parts[2:])])


def product(link: str) -> str:
    """A product's identity: its address without scheme, ``www.`` and tracking, the same for all spellings.

    The host is in lower case, percent-encoding is normalised (RFC 3986, 6.2.2), and query parameters are sorted. A
    fragment counts if it is a path, as in ``#!/lamp``.
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
    """An address without its query and fragment."""
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
    """A part of an address with upper-case escapes, only for characters that need them."""

    def escape(found: re.Match[str]) -> str:
        character = chr(int(found[0][1:], 16))
        return character if re.fullmatch(_UNRESERVED, character) else found[0].upper()

    return re.sub("%[0-9A-Fa-f]{2}", escape, text)


def _is_tracking(name: str) -> bool:
    known = unquote(name).lower()
    return known in TRACKING or known.startswith("utm_")


def picture(image: str | None, width: int) -> str | None:
    """A picture's address at about a width, if its host resizes; None if it isn't HTTPS."""
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
    """The networks of an address: itself if it is IPv4, else one of each width, in their order.

    A text that isn't an address is in the network ``unknown``.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ["unknown"]
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped  # all mapped addresses would share one network
    if ip.version == 4:
        return [str(ip)]
    return [str(ipaddress.ip_network(f"{ip.packed.hex(':', 2)}/{width}", strict=False)) for width in widths]


_ENDING = r"(?:, | [-\u2013\u2014|] | \()[^,|(\u2013\u2014]*$"


_COLOUR = r"(?:, | [-\u2013\u2014|] )([^,|()\u2013\u2014]*)$"
"""An ending of a title that its page's address may have, too. Text in parentheses often means another product."""


def likenesses(link: str, title: str, brand: str) -> tuple[str, str, str]:
    """Three texts of a deal. Deals that share one of them are one product, or its colours and sizes.

    The first is the product. The second is the page at the shop with the title, both without a common final colour or
    size: ``Trail runner, blue`` at ``/trail-runner-blue``, as many shops have a page for each colour. The title
    separates products that only share a page's path. The third is the brand with the title at the shop: readers could
    not tell two such cards apart.
    """
    at, colour = page(link), re.search(_COLOUR, title)
    if colour and (ending := re.sub("[^a-z0-9]+", "-", colour[1].casefold()).strip("-")):
        at = at.removesuffix(f"-{ending}")
    return product(link), f"{at} {re.sub(_ENDING, '', title).casefold()}", f"{host(link)} {brand} {title.casefold()}"


def alike(link: str, title: str, brand: str) -> str:
    """A deal's likenesses in short, as items hold them: the first digits of their hashes."""
    return " ".join(hashed(each)[:10] for each in likenesses(link, title, brand))


_SIGNS = " -\u2013\u2014|:,"
"""Characters between the parts of a title."""

LONGEST = 40
"""Characters of a name that fit a card, in two lines."""

LONGEST_OF_LEAD = 60
"""Characters of a name that fit the front page's first card."""

_LAST = 14
"""The last characters of a longer name, whose words stay because similar products differ there."""


_SPLIT = r"\).|^[^(]*\)$"
"""Whether an ending cuts through parentheses, or follows them."""


def named(title: str, brand: str, longest: int = LONGEST) -> tuple[str, str]:
    """A title as a card shows it, and its final colour or size ("" if none), which has a line of its own.

    The brand, which the card shows above, isn't repeated. A title of more than ``longest`` characters moves a longer
    ending to that line; a name that is still too long keeps its first and last words.
    """
    name, kind = title, ""
    if name.casefold().startswith(f"{brand.casefold()} "):
        name = name[len(brand) :].lstrip(_SIGNS) or title
    ending = re.search(_ENDING, name)
    room = longest if len(name) > longest else longest // 2
    if ending and ending.start() and len(ending[0]) <= room and not re.search(_SPLIT, ending[0]):
        name, kind = name[: ending.start()], ending[0].strip(" ,-\u2013\u2014|()")
    return name if len(name) <= longest else _cut(name, longest), kind


def _cut(name: str, longest: int) -> str:
    """The first and the last words of a name, in ``longest`` characters."""
    *words, last = name.split()
    last = last[-_LAST:]
    while words and len(words[-1]) + 1 + len(last) <= _LAST:
        last = f"{words.pop()} {last}"
    room = longest - len(last) - 2
    first = name[: room + 1].rpartition(" ")[0] or name[:room]
    return f"{first.rstrip(_SIGNS)}\N{HORIZONTAL ELLIPSIS} {last}"


def numbered(shown: Iterable[tuple[Iterable[str], str]]) -> Iterator[int]:
    """The card number, from 0, of each deal, which is given as its likenesses and its price."""
    numbers: dict[tuple[str, str], int] = {}
    cards = 0
    for texts, price in shown:
        own = [(text, price) for text in texts]
        number = next((numbers[each] for each in own if each in numbers), cards)
        cards += number == cards
        for each in own:
            numbers.setdefault(each, number)
        yield number
