"""Words that mean the same in the trade, and the kind of thing that some words name.

A search for a word of a group also finds deals with the group's others. A search that finds nothing is repeated with
the kind: no trainers of a brand, but its shoes. Deals are filed under their own words only, so a changed list changes
no items. Alerts use words as typed.
"""

from __future__ import annotations

GROUPS = (
    # Clothing and shoes
    "sneaker trainer",
    "tee tshirt",
    "hoodie hoody",
    "sweater jumper",
    "pants trousers slacks",
    "vest gilet",
    "beanie toque",
    "leggings tights",
    "overalls dungarees",
    "pajamas pyjamas",
    "swimsuit swimwear",
    "sunglasses sunnies",
    "ladies womens",
    "kids childrens",
    # Bags and accessories
    "backpack rucksack",
    "handbag purse",
    "luggage suitcase",
    "wallet billfold",
    "jewelry jewellery",
    # Home and outdoors
    "sofa couch settee",
    "duvet comforter",
    "rug carpet",
    "fridge refrigerator",
    "vacuum hoover",
    "skillet frypan",
    "flashlight torch",
    "bike bicycle",
    # Electronics
    "tv television",
    "earbuds earphones",
    "smartphone cellphone",
    # Spellings
    "gray grey",
    "color colour",
    "fiber fibre",
    "aluminum aluminium",
)
"""Words of one meaning, in singular or plural."""

KINDS = {
    "shoe": "sneaker trainer plimsoll loafer moccasin oxford",
    "boot": "wellington galosh",
    "sandal": "flipflop huarache",
    "jacket": "anorak blazer coat parka raincoat windbreaker",
    "hat": "balaclava beanie cap fedora visor",
    "shirt": "blouse henley polo tee",
    "pants": "chinos joggers khakis leggings",
    "shorts": "boardshorts trunks",
    "bag": "backpack duffel handbag rucksack satchel tote",
    "blanket": "afghan quilt",
    "phone": "smartphone iphone",
    "headphones": "airpods earbuds headset",
    "laptop": "macbook chromebook",
}
"""Kinds of things, with words for things of that kind."""
