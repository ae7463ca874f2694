"""What a deal's title says of the product: its kind, its colour and its pattern.

A tile without a picture is drawn by them, and a deal's page offers cheaper deals of the same kind.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping

KINDS: Mapping[str, str] = {
    "backpack": "backpack|backpacks|daypack|rucksack|pack|packs",
    "beanie": "beanie|beanies|toque",
    "boot": "boot|boots|bootie|booties|wellie|wellies",
    "bottle": "bottle|bottles|tumbler|tumblers|mug|mugs|flask|growler|jug",
    "boxers": "boxer|boxers|brief|briefs|underwear|boxer trunk|boxer trunks",
    "camp": "camp shirt|field jersey|jersey|hawaiian shirt|aloha shirt|short sleeve button up|short sleeve shirt",
    "cap": "cap|caps|hat|hats|visor|trucker|helmet|helmets",
    "duffel": "duffel|duffels|duffle|weekender|haul|travel bag",
    "headphones": "headphone|headphones|earbud|earbuds|earphones|headset",
    "hoodie": "hoodie|hoodies|hooded sweatshirt|hoody",
    "jacket": "jacket|jackets|coat|coats|blazer|shacket|overshirt|windbreaker|shell|bomber|anorak",
    "keyboard": "keyboard|keyboards|keycap|keycaps|numpad",
    "lamp": "lamp|lamps|lantern|sconce",
    "laptop": "laptop|laptops|macbook|notebook|tablet|ipad|folio",
    "pants": "pant|pants|trouser|trousers|jogger|joggers|jean|jeans|chino|chinos|leggings|tight|tights|bibs|bib",
    "parka": "parka|parkas|puffer|down jacket|insulated jacket|down coat|puffy",
    "polo": "polo|polos",
    "shirt": "shirt|shirts|flannel|oxford shirt|button up|button down|blouse|henley",
    "shoe": "shoe|shoes|sneaker|sneakers|trainer|trainers|loafer|loafers|runner|clog|clogs|"
    "slipper|slippers|cleat|cleats|oxfords|wingtip|wingtips|chukka|moccasin|moccasins|derby",
    "sandal": "sandal|sandals|flip flop|flip flops|slide|slides",
    "shorts": "short|shorts|boardshort|boardshorts|volley|trunk|trunks",
    "sock": "sock|socks|liner|liners",
    "sunglasses": "sunglasses|goggles|eyeglasses",
    "sweater": "sweater|sweaters|sweatshirt|crew|crewneck|quarter zip|half zip|pullover|cardigan|fleece|cashmere",
    "tee": "tee|tees|t shirt|t shirts|tshirt|tank|tank top|long sleeve|bra",
    "tent": "tent|tents|shelter|tarp|canopy",
    "tote": "tote|totes|bag|bags|sling|purse|pouch|crossbody|wallet|wallets",
    "vest": "vest|vests|gilet",
    "watch": "watch|watches|smartwatch",
}
COLOURS: Mapping[str, str] = {
    "black": "black|onyx|jet|obsidian|ink|noir|anthracite|charcoal",
    "blue": "blue|denim|azure|cobalt|royal|teal|aqua|turquoise|sky",
    "brown": "brown|tan|khaki|camel|chocolate|coffee|cocoa|walnut|mocha",
    "green": "green|olive|sage|forest|moss|pine|spruce|hunter|emerald",
    "grey": "grey|gray|heather|silver|slate|stone|ash|graphite",
    "navy": "navy|indigo|midnight|marine",
    "orange": "orange|rust|amber|copper|yellow|gold|mustard",
    "pink": "pink|rose|coral|magenta|berry|fuchsia|purple|plum|lilac|violet",
    "red": "red|burgundy|maroon|crimson|wine|scarlet|cherry|brick",
    "white": "white|ivory|cream|natural|bone|pearl",
}
PATTERNS: Mapping[str, str] = {
    "stripe": "stripe|stripes|striped",
    "plaid": "plaid|tattersall|check|checked|gingham|tartan",
    "dots": "print|printed|dot|dots|floral|camo|camouflage|tie dye",
}

_APOSTROPHES = dict.fromkeys(map(ord, "'\N{RIGHT SINGLE QUOTATION MARK}"))
_WORD = r"[^\W_]+"
_LONGEST = 4
"""The most words of a phrase in these tables."""


def _by_phrase(table: Mapping[str, str]) -> dict[str, str]:
    return {phrase: name for name, phrases in table.items() for phrase in phrases.split("|")}


_KIND_OF, _COLOUR_OF, _PATTERN_OF = (_by_phrase(each) for each in (KINDS, COLOURS, PATTERNS))


def kind(title: str) -> str | None:
    """The kind of thing that a title names, by its last known phrase; a longer phrase counts more.

    A colour is cut off first: "Button Up | Oxford Blue" is no shoe, and in "Socks 3 Pack" the pack is a number's.
    """
    words = _words(re.split(r" [|–] | - ", title)[0]) or _words(title)  # noqa: RUF001  # a dash, as shops write it
    words = [word for n, word in enumerate(words) if not (word == "pack" and n and words[n - 1].isdecimal())]
    for end in range(len(words), 0, -1):
        for start in range(max(0, end - _LONGEST), end):
            if found := _KIND_OF.get(" ".join(words[start:end])):
                return found
    return None


def look(title: str, deal_id: str) -> str:
    """The classes of a tile without a picture: its kind, colour and pattern, and one of two cuts by the deal's id."""
    words = _words(title)
    classes = [f"g-{found}" if (found := kind(title)) else ""]
    classes += [f"c-{found}" if (found := _last(_COLOUR_OF, words)) else ""]
    classes += [f"p-{found}" if (found := _last(_PATTERN_OF, words)) else ""]
    classes += ["disc" if zlib.crc32(deal_id.encode()) % 2 else ""]
    return " ".join(filter(None, classes))


def _words(text: str) -> list[str]:
    return [found.lower() for found in re.findall(_WORD, text.translate(_APOSTROPHES))]


def _last(table: Mapping[str, str], words: list[str]) -> str | None:
    return next((table[word] for word in reversed(words) if word in table), None)
