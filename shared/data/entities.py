"""The item types, one row each: keys, index places, attributes, partners, owner, visibility and export.

Everything that needs the types is made from these rows (``Entity`` in ``entity.py``): checks of the table, exports,
account removal, the table browser and its chart, the model for NoSQL Workbench, and the IAM patterns
(``partitions.py``). Functions that readers wait for don't import it at start.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import chain
from typing import Any

from shared import features, hooks
from shared.data import keys
from shared.data.entity import (
    DEAL_ID,
    OF_DEAL,
    SAYS_DEAL,
    SAYS_USER,
    SCRATCH,
    Entity,
    Exported,
    Partner,
    Shown,
    at,
    in_order_of_removal,
)
from shared.data.entity import named as _
from shared.dynamodb.attributes import Item
from shared.dynamodb.schema import GSI1, GSI2, GSI3, USER_INDEX, Key, key_names
from shared.models.catalog import (
    ALL_DEALS,
    BRAND,
    CATEGORY,
    EDITORS_CHOICE,
    FRONT_PAGE,
    CuratedPage,
    Feed,
    Topic,
    feed_of,
)

_USERNAME, _SHARD = _("Username"), _("Shard")
_BRAND, _CATEGORY = Topic(BRAND, _("Brand")), Topic(CATEGORY, _("Category"))
_PERIOD = "0001-01-01"
_TELLING = ("Pace", (None, "at-once", "daily"))
_OPEN, _PARTLY = Shown.OPEN, Shown.PARTLY
_WHOLE, _DESCRIBED = Exported.WHOLE, Exported.DESCRIBED


_FEEDS = keys.deal_in_feeds(DEAL_ID, day=_("Day"), brand=_("Brand"), month=_("Month"), category=_("Category"))
_LISTED = keys.offer_of_listed(
    DEAL_ID, brand=_("Brand"), category=_("Category"), price=_("Cents"), currency=_("Currency"), percent=_("Percent")
)
_ENDED = keys.offer_of_ended(DEAL_ID, _("Brand"), _("Category"))


def _picks(page: CuratedPage, kind: str, patterns: str) -> Entity:
    own = at(keys.featured(page), kind, patterns, _OPEN)
    return Entity(page.type, own, needs="Featured FeaturedVersion UpdatedAt", exported=_WHOLE)


def _copy(type_: str, key: Key, kind: str, patterns: str, shown: Shown) -> Iterator[Entity]:
    """The copies of a page's part as JSON and HTML, in one partition."""
    for each in (key, keys.html_copy(key)):
        yield Entity(type_, at(each, kind, patterns, shown), needs="Body BuiltAt", expires=True)


def _followed(topic: Topic, likes: str, watches: str) -> Iterator[Entity]:
    """The likes and watches of brands or categories; ``likes`` and ``watches`` are the numbers of their patterns."""
    of, user = topic.kind.label, (topic, _USERNAME)
    of_topic: dict[str, Any] = {
        "says": SAYS_USER,
        "partners": (Partner(keys.topic(topic)),),
        "owned": True,
        "remover": True,
    }
    like = at(keys.like(*user), f"a like of a {of}", likes)
    listed = at(keys.like_in_likes(*user), "a user's likes", "25", index=GSI1)
    yield Entity(keys.LIKE[topic.kind], like, (listed,), needs="LikedAt", **of_topic)
    watch = at(keys.watch(*user), f"the watchers of a {of}", watches)
    listed = at(keys.watch_in_watches(*user), "a user's watches", "25", index=GSI1)
    yield Entity(keys.WATCH[topic.kind], watch, (listed,), needs="WatchedAt", **of_topic)


def _counts(feed: Feed, kind: str = "", patterns: str = "") -> Entity:
    own = at(keys.periods(feed, _PERIOD), kind, patterns, _OPEN)
    return Entity(keys.PERIODS, own, needs="Total", computed=True, exported=_WHOLE)


def _together(*parts: Mapping[str, tuple[Entity, ...]]) -> Mapping[str, tuple[Entity, ...]]:
    """The rows of the core and of features, by what they belong to."""
    rows: dict[str, tuple[Entity, ...]] = {}
    for heading, more in chain.from_iterable(part.items() for part in parts):
        rows[heading] = (*rows.get(heading, ()), *more)
    return rows


_OF_FEATURES = features.roles(hooks.Items)
_HOLDING = [count for each in features.roles(hooks.AccountFields) for count in each.HOLDS_ACCOUNTS]

# fmt: off
ENTITIES = _together({
    "Deals": (
        Entity(keys.DEAL, at(keys.deal(DEAL_ID), "a deal", "12", _OPEN),
            (at(_FEEDS, "a day of all deals", "7", _OPEN, index=GSI1),
                at(_FEEDS, "a month of a brand", "10", _OPEN, index=GSI2),
                at(_FEEDS, "a day of a category", "8", _OPEN, index=GSI3)),
            says=SAYS_DEAL,
            partners=(Partner(keys.deal_number(_("DealNumber")),
                    {"Type": keys.DEAL_NUMBER, "Number": "<DealNumber>", **SAYS_DEAL},
                    {"Product": "Product", "Brand": "Brand"}),
                Partner(keys.deal_source(_("SourceId")),
                    {"Type": keys.DEAL_SOURCE, "SourceId": "<SourceId>", **SAYS_DEAL}),
                Partner(keys.topic(_BRAND)),
                Partner(keys.topic(_CATEGORY))),
            exported=_WHOLE),
        Entity(keys.DEAL_NUMBER, at(keys.deal_number(_("Number")), "a deal's number", "12", _OPEN),
            needs="DealId Product Brand", says={"Number": "<Number:d>"}, claimed=True, exported=_WHOLE),
        Entity(keys.DEAL_SOURCE, at(keys.deal_source(_("SourceId")), "the source of a deal", "1"),
            needs="DealId", says={"SourceId": "<SourceId>"}, claimed=True, exported=_WHOLE),
        Entity(keys.PRODUCT_OFFER, at(keys.product_offer(_("Hash"), DEAL_ID), "a product", "37", _OPEN),
            (at(_LISTED, "a category by discount", "45", _OPEN, index=GSI1),
                at(_LISTED, "a brand by price", "44", _OPEN, index=GSI2),
                at(_LISTED, "a category by price", "43", _OPEN, index=GSI3),
                at(_ENDED, "ended deals of a brand", "41", _OPEN, index=GSI2),
                at(_ENDED, "ended deals of a category", "41", _OPEN, index=GSI3)),
            computed=True, exported=_WHOLE),
        Entity(keys.ENDING, at(keys.ending(_("Day"), _("Time"), DEAL_ID), "deals that end on a day", "40", _OPEN),
            needs="Brand Category", says=SAYS_DEAL, computed=True, exported=_WHOLE),
        Entity(keys.ENDINGS, at(keys.endings(), "progress of the sweep of ended deals", "26"),
            needs="SweptBefore", exported=_WHOLE),
        Entity(keys.LOG_LINE, at(keys.log_line(DEAL_ID, _("LineId")), "the log of a deal's changes", "54"),
            needs="Was Became", partners=(OF_DEAL,), expires=True),
        Entity(keys.SHOP, at(keys.shop(_("Host")), "a shop's usual category", "55"),
            needs="Category", says={"Host": "<Host>"}, exported=_WHOLE),
        Entity(keys.FAN_OUT,
            at(keys.fan_out_segment(DEAL_ID, _("Segment")), "members notified of a hot deal", "21"),
            needs="Told Pages Segments LastAt", partners=(OF_DEAL,)),
        Entity(keys.FAN_OUT_PAGE,
            at(keys.fan_out_page(DEAL_ID, _("Kind"), _("Segment"), ""), "members notified of a hot deal", "21"),
            expires=True),
    ),
    "Brands and categories": (
        Entity(keys.TOPIC[BRAND], at(keys.topic(_BRAND), "a brand", "10", _OPEN),
            needs="Name LikesCount WatchCount", exported=_WHOLE),
        Entity(keys.BRANDS, at(keys.brands(), "all brands", "11", _OPEN), needs="Brands", exported=_WHOLE),
        Entity(keys.TOPIC[CATEGORY], at(keys.topic(_CATEGORY), "a category", "8", _OPEN),
            needs="Name LikesCount WatchCount", exported=_WHOLE),
        _counts(ALL_DEALS, "the counts of all deals", "7"),
        _counts(feed_of(_CATEGORY)),
        _counts(feed_of(_BRAND)),
        *_followed(_BRAND, "14", "15 22"),
        *_followed(_CATEGORY, "16", "17 23"),
    ),
    "Picks, and copies of pages": (
        _picks(FRONT_PAGE, "the front page's picks", "4"),
        _picks(EDITORS_CHOICE, "the editor's choice", "6"),
        Entity(keys.CATEGORY_FEATURED, at(keys.featured(_CATEGORY), shown=_OPEN),
            needs="Featured FeaturedVersion UpdatedAt", says={"Category": "<Category>"}, exported=_WHOLE),
        *_copy(keys.DEALS_CACHE, keys.deals_cache(_SHARD), "a copy of a page", "7", _OPEN),
        *_copy(
            keys.CATEGORY_CACHE, keys.category_cache(_("Category"), _SHARD), "a copy of a category's page", "8", _OPEN),
        *_copy(f"{FRONT_PAGE.type}Cache", keys.page_cache(FRONT_PAGE, _SHARD), "a copy of a page", "7", Shown.WHOLE),
        *_copy(f"{EDITORS_CHOICE.type}Cache", keys.page_cache(EDITORS_CHOICE, _SHARD), "a copy of a page", "9",
            Shown.WHOLE),
    ),
    "Search": (
        Entity(keys.WORD, at(keys.word_of_deal(_("Word"), DEAL_ID), "a word", "36", _OPEN),
            says=SAYS_DEAL, computed=True, exported=_WHOLE),
        Entity(keys.WORD_COUNT, at(keys.word_count(_("Word")), "words with the same beginning", "36", _OPEN),
            needs="Deals Forms", says={"Word": "<Word>"}, computed=True, exported=_WHOLE),
    ),
    "Members": (
        Entity(keys.USER, at(keys.user(_USERNAME), "a user", shown=_PARTLY),
            (at(keys.user_in_users(_USERNAME), "a user, to notify", "21", _PARTLY, index=USER_INDEX),
                *chain.from_iterable(each.USER_PLACES for each in _OF_FEATURES)),
            needs="Email Name CreatedAt AccountId Generation", may="Role HotPace SignOuts",
            hides={"Name": "a member's name", **features.merged(hooks.Items, lambda each: each.USER_HIDES),
                "Generation": "derived from a password's hash",
                "Email": "a member's email address"},
            says=SAYS_USER,
            partners=(Partner(keys.user_email(_("Email")), {"Type": keys.USER_EMAIL, "Email": "<Email>", **SAYS_USER}),
                Partner(keys.password(_USERNAME), {"Type": keys.PASSWORD, **SAYS_USER}, is_lost=True)),
            exported=_DESCRIBED),
        Entity(keys.REMOVAL, at(keys.user(_USERNAME), shown=_PARTLY),
            (at(keys.user_in_removals(_USERNAME), index=GSI1, because="account removals are private"),),
            needs="Leaving RemovedAt", says=SAYS_USER,
            hides=dict.fromkeys(("Leaving", "RemovedAt"), "account removals are private")),
        Entity(keys.ACCOUNT, at(keys.account(_USERNAME), "an account", "13"),
            needs=" ".join(("AccountId", *_HOLDING)), says=SAYS_USER, computed=True),
        Entity(keys.PASSWORD,
            at(keys.password(_USERNAME), because="a password's hash is read only where passwords are checked"),
            needs="PasswordHash", says=SAYS_USER, claimed=True),
        Entity(keys.USER_EMAIL, at(keys.user_email(_("Email")), because="its key is an email address"),
            needs="Username", says={"Email": "<Email>"}, claimed=True),
        Entity(keys.SESSION,
            at(keys.session(_("TokenHash")), because="its key is the hash of a session token"),
            (at(keys.session_in_sessions(_USERNAME, _("CreatedAt")), index=GSI1,
                    because="its keys are hashes of session tokens"),),
            needs="Username CreatedAt Generation", owned=True, expires=True),
        Entity(keys.MESSAGE, at(keys.message(_USERNAME, _("MessageId")), "a user's messages", "18"),
            (at(keys.message_in_unread(_USERNAME, _("MessageId")), "a user's unread messages", "19", index=GSI1,
                    when=("ReadAt", (None,))),),
            needs="Kind Subject CreatedAt", says={**SAYS_USER, "MessageId": "<MessageId>"}, owned=True, expires=True,
            exported=_DESCRIBED),
        Entity(keys.PRICE_ALERT, at(keys.alert(_USERNAME, "price-<Product>"), "a user's alerts", "50"),
            (at(keys.alert_in_prices(_("Product"), _("Currency"), _("Armed"), _USERNAME),
                    "the alerts on a product, by price", "51", index=GSI2, when=_TELLING),),
            needs="AccountId DealId DealTitle Armed CreatedAt Ceiling Currency",
            says={**SAYS_USER, "AlertId": "price-<Product>"}, owned=True, exported=_DESCRIBED),
        Entity(keys.WORDS_ALERT, at(keys.alert(_USERNAME, "words-<WordsHash>")),
            (at(keys.alert_in_words(_("RarestWord"), _USERNAME, "words-<WordsHash>"), "the alerts on a word", "51",
                    index=GSI1, when=_TELLING),
                at(keys.alert_in_joined(_("Joined"), _USERNAME, "words-<WordsHash>"),
                    "the alerts on a hyphenated word", "51", index=GSI2, when=_TELLING)),
            needs="AccountId Rarest CreatedAt Words", says={**SAYS_USER, "AlertId": "words-<WordsHash>"}, owned=True,
            exported=_DESCRIBED),
    ),
}, *(each.ENTITIES for each in _OF_FEATURES), {
    "Upkeep": (
        Entity(keys.SEQUENCE, at(keys.deal_numbers(), "a sequence of numbers", "1 30"),
            needs="LastNumber", exported=_WHOLE),
        *(
            Entity(keys.ATTEMPTS, at(key, because="it shows from which networks people tried to sign in"),
                expires=True)
            for key in (keys.attempts(_("Kind"), _("Who"), _("Window")), keys.known_network("", ""))
        ),
        Entity(keys.IDEMPOTENCY,
            at(keys.idempotency(_("AccountId"), ""), because="a receipt is for the sender of the request"),
            needs="ResultId RequestHash CreatedAt", expires=True),
    ),
})
# fmt: on
"""The item types, grouped by what they belong to."""

ROWS = tuple(entity for some in ENTITIES.values() for entity in some)

NAME = r"<(\w+)(?::(\w+))?>"
"""A name in a row's template, with its format: a pattern."""

OWNED = in_order_of_removal(ROWS)
"""The types whose items belong to an account, in the order of their removal."""

SCRATCHES = tuple(
    at({key_names(index)[0]: keys.scratch(_("Visitor"), _("Run"))}, "a run of trial requests", index=index)
    for index in (None, GSI1, GSI2, GSI3)
)
"""Scratch partitions, which hold trial items of no type of ours."""

SCRATCH_ITEM = Entity(SCRATCH, SCRATCHES[0], SCRATCHES[1:], expires=True)
"""Scratch items' texts in the chart of the table."""

PLACES = (*(place for row in ROWS for place in (row.own, *row.places)), *SCRATCHES)
"""Every type's places in the table and the indexes, and the scratch partitions."""


def row_of(item: Item) -> tuple[Entity | None, dict[str, str]]:
    """An item's row, by its type and key format, and the values in its key; None for no type."""
    for row, pattern in _patterns().get(str(item.get("Type", "")), ()):
        if found := re.fullmatch(pattern, _joined(item)):
            return row, found.groupdict()
    return None, {}


@cache
def _patterns() -> Mapping[str, list[tuple[Entity, str]]]:
    types = {row.type for row in ROWS}
    return {each: [(row, _pattern(row.own.forms)) for row in ROWS if row.type == each] for each in types}


def _pattern(forms: Key) -> str:
    """A pattern for the templates of both keys, with a group for each name."""
    parts = re.split(NAME, _joined(forms))  # alternating: text, name, format
    pattern, names = re.escape(parts[0]), set[str]()
    for name, text in zip(parts[1::3], parts[3::3], strict=True):
        pattern += f"(?P={name})" if name in names else f"(?P<{name}>[^\0]+)"
        pattern += re.escape(text)
        names.add(name)
    return pattern


def _joined(key: Mapping[str, Any]) -> str:
    return f"{key['PK']}\0{key['SK']}"
