"""The access patterns: their names, how each is answered in one sentence, and which function serves which."""

from __future__ import annotations

from collections.abc import Mapping

SENTENCES: Mapping[str, tuple[str, str]] = {
    "1": (
        "Create a deal",
        "One transaction puts the deal, its number and its source, and counts it in its feeds: all of it, or nothing.",
    ),
    "2": ("Create a brand", "One transaction puts the brand and adds its name to the one item that lists them all."),
    "3": ("Create the categories", "Puts what is not there yet, so that each deployment may do it again."),
    "4": (
        "Pick the front page's deals",
        "One item holds the picked deals in order, copied into it, so that the page is one read.",
    ),
    "5": ("Pick a category's deals", "The picks stand in the category's own item, beside its counts."),
    "6": ("Pick the editor's choice", "As the front page's: one item, written whole."),
    "7": (
        "Front page and latest deals",
        "One BatchGetItem of copies that the stream keeps rendered; older pages from GSI1, a partition for each day.",
    ),
    "8": (
        "Category page and its latest deals",
        "Its counts and its rendered copy in one BatchGetItem; older pages from GSI3, a partition for each day.",
    ),
    "9": ("Editor's choice page", "A rendered copy, or else the one item that holds the picks."),
    "10": (
        "Latest deals of a brand",
        "The brand's item, and GSI2 with a partition for each month: a brand posts less than a category.",
    ),
    "11": ("All brands", "One item holds all names: a page that shows every brand is one read."),
    "12": ("One deal", "The id is in the key; a number is an item of its own that names the id, so that it is unique."),
    "13": (
        "Create a user",
        "One transaction puts the user, the account, the password and the address: each is unique because its key is.",
    ),
    "14": (
        "Like a brand, unlike it",
        "One transaction puts the like, which is refused the second time, and counts it on the brand.",
    ),
    "15": (
        "Watch a brand, stop watching",
        "One transaction puts the watch in the brand's partition of watchers, and counts it.",
    ),
    "16": ("Like a category, unlike it", "As a brand's like: the two differ in their keys alone."),
    "17": ("Watch a category, stop watching", "As a brand's watch: the two differ in their keys alone."),
    "18": (
        "Messages of a user",
        "One partition for each user, newest first: an id that begins with the time is the sort key.",
    ),
    "19": (
        "Unread messages of a user",
        "A sparse index: only unread messages have the keys of GSI1, so it holds nothing else.",
    ),
    "20": (
        "Mark a message read",
        "One conditional update takes the keys of GSI1 away, and the message leaves the index of the unread.",
    ),
    "21": (
        "Hot deal: message every user",
        "A parallel scan of an index that holds users alone; who was told is noted segment by segment.",
    ),
    "22": (
        "New deal: message the brand's watchers",
        "One Query of the brand's watchers, then a message for each, once, however often the work comes again.",
    ),
    "23": (
        "New deal: message the category's watchers",
        "One Query of the category's watchers, then a message for each, once.",
    ),
    "24": (
        "Sign in, be known, sign out, sign out everywhere",
        "The token's hash is the key, so one consistent read knows who asks; GSI1 finds all sessions of a user.",
    ),
    "25": ("What do I like and watch?", "The watch is turned around: in the table by topic, in GSI1 by user."),
    "26": (
        "Edit, expire or withdraw a deal",
        "One transaction writes what changed, if the version is still the one that was read, and moves the counts.",
    ),
    "27": ("Save, replace, remove an address", "A map in the user's item: few, small, and never asked for alone."),
    "28": (
        "A user and the newest orders",
        "One Query, backward, reads the user and the newest orders: their keys lie beside each other.",
    ),
    "29": (
        "Cart: put in, take out, view",
        "A partition for each user that expires by itself; the deals are read as they are now by one BatchGetItem.",
    ),
    "30": (
        "Place an order",
        "One transaction puts the order and takes the pieces from the stock: nothing is sold twice.",
    ),
    "31": ("An order and its items", "The order's parts share a key of GSI1, and one Query reads them together."),
    "32": (
        "Orders by status and time",
        "The sort key of GSI2 begins with the status, then the time: a beginning of it asks for one status or all.",
    ),
    "33": ("Send, deliver, cancel", "One transaction, refused if the order is no longer as it was read."),
    "34": (
        "Open orders, oldest first",
        "Open orders alone have the keys of GSI3: a sparse index, a partition for each status and day.",
    ),
    "35": ("Stock", "Pieces lie in several items, so that a rush does not meet at one; a note says in how many."),
    "36": (
        "Search",
        "An item for each word of a deal, which names the others: a search reads its rarest word's partition alone.",
    ),
    "37": (
        "A deal's page: its product's other offers, its brand's deals",
        "All offers of one product lie in one partition, named by a hash of its link.",
    ),
    "38": (
        "Save a deal; the saved ones",
        "A partition for each user, newest first, and one BatchGetItem for the deals as they are now.",
    ),
    "39": ("Count a click", "One update adds one; an item that expires remembers who was counted."),
    "40": ("What ends soon", "A partition for each day on which deals end, written when they are posted."),
    "41": (
        "What a brand or category had last",
        "What ended leaves the feed's partition for one of its own, newest first.",
    ),
    "42": (
        "Mailed links: a new password, a proved address",
        "An item under a hash of token and account; what uses the token up deletes it, in one transaction.",
    ),
    "43": (
        "Cheapest of a category, between two prices",
        "One Query of GSI3, whose sort key is the price with leading zeros: BETWEEN asks for exactly what is shown.",
    ),
    "44": (
        "Cheapest of a brand, also in a category",
        "One Query of GSI2 by price; other categories, and the order by discount, are left to the function that reads.",
    ),
    "45": (
        "Biggest discounts of a category",
        "One backward Query of GSI1, which is sparse: only listed deals with a discount are in it.",
    ),
    "46": (
        "Vote a deal up or down, take it back",
        "One transaction puts the vote and adds it to the deal's score, an item of its own: votes do not meet edits.",
    ),
    "47": (
        "Popular deals",
        "A score's sort key in GSI1 is its logarithm plus the deal's age, so time alone lets it sink and no job does.",
    ),
    "48": (
        "Alert on a product's price",
        "One transaction puts the alert into its owner's partition, and counts it on the account: a hundred at most.",
    ),
    "49": (
        "Alert on words",
        "As one on a price; it is looked up by the rarest of its words, so that few are read in vain.",
    ),
    "50": ("One's alerts", "They lie together under their owner's name: a list needs no index, nor does a removal."),
    "51": (
        "A deal's alerts: message those it meets",
        "One Query of its product's alerts from its price up, and one for each word of a new deal.",
    ),
    "52": (
        "A private feed",
        "An item under the hash of its key says whose it is; a note under the name, which a new key replaces.",
    ),
    "53": (
        "The day's messages by mail",
        "Who wants them at an hour is one partition of GSI1; a receipt for each account and day is put once.",
    ),
    "54": (
        "Who changed what of a deal",
        "The stream puts a line for each change: its id is made of the record's time and number, so it is put once.",
    ),
    "55": ("A shop's usual category", "An item under the shop's host, which the stream puts over the one before."),
    "56": (
        "Keep a draft, plan when it is posted; one's drafts",
        "A partition of the editor's own; what is planned has a note in the partition of all that is to come, by time.",
    ),
    "57": (
        "Post a draft, now or at its time",
        "The transaction that posts any deal removes draft and note, too: it is posted once, whoever does it.",
    ),
}
"""Each pattern's name, as the README's table has it, and how the table answers it."""

PATTERNS: Mapping[str, str] = {
    "deals.create": "1",
    "oddities.create": "1",
    "deals.find": "12",
    "deals.get": "12",
    "deal_numbers.place_of": "12",
    "deals.get_many": "12",
    "deals.edit": "26",
    "deal_pictures.record": "26",
    "oddities.edit": "26",
    "undoing.undo": "26",
    "deals.make_hot": "21",
    "brands.create": "2",
    "brands.names": "11",
    "seeds.plant": "3",
    "picks.set_featured": "4, 6",
    "picks.set_category_featured": "5",
    "picks.read": "9",
    "picks.refresh": "26",
    "page_cache.read": "7, 9",
    "page_cache.read_category": "8",
    "feeds.read": "7, 8, 10",
    "topics.get": "10",
    "topics.get_many": "10",
    "users.create": "13",
    "accounts.sign_up": "13",
    "users.get": "24",
    "accounts.own": "24",
    "users.count": "21",
    "follows.like": "14, 16",
    "follows.unlike": "14, 16",
    "follows.watch": "15, 17",
    "follows.unwatch": "15, 17",
    "follows.limit": "15, 17",
    "follows.watches": "25",
    "follows.watching": "25",
    "follows.likes": "25",
    "follows.is_liked": "25",
    "follows.is_watched": "25",
    "messages.latest": "18, 19",
    "messages.unread_count": "19",
    "messages.mark_read": "20",
    "messages.mark_all_read": "20",
    "fanout.deliver": "21, 22, 23",
    "alerting.cohort": "51",
    "fanout_progress.read": "21",
    "sessions.start": "24",
    "sessions.authenticate": "24",
    "sessions.end": "24",
    "sessions.end_all": "24",
    "endings.sweep": "26",
    "addresses.save": "27",
    "addresses.remove": "27",
    "addresses.of": "27",
    "reading.customer": "28",
    "carts.put_in": "29",
    "carts.take_out": "29",
    "carts.view": "29",
    "carts.pieces": "29",
    "placing.place": "30",
    "reading.get": "31",
    "reading.find": "31",
    "reading.latest": "32",
    "reading.closed": "34",
    "reading.filled": "31",
    "steps.advance": "33",
    "steps.undo": "33",
    "open_orders.read": "34",
    "stock.add": "35",
    "stock.leave": "35",
    "stock.of": "35",
    "stock.find": "35",
    "stock.find_many": "35",
    "search.find": "36",
    "selecting.find": "36",
    "selecting.page": "36",
    "search.active": "36",
    "deal_pages.read": "37",
    "offers.offers": "37",
    "offers.offers_of": "37",
    "feeds.of_periods": "37",
    "saved.save": "38",
    "saved.unsave": "38",
    "saved.is_saved": "38",
    "saved.latest": "38",
    "feed_keys.make": "52",
    "feed_keys.made_at": "52",
    "feed_keys.revoke": "52",
    "feed_keys.reader": "52",
    "alerts.on_price": "48",
    "alerts.on_words": "49",
    "alerts.of": "50",
    "alerts.get": "50",
    "alerts.change": "50",
    "alerts.remove": "50",
    "clicks.count": "39",
    "clicks.is_first": "39",
    "clicks.of": "39",
    "endings.upcoming": "40",
    "offers.ended": "41",
    "email_tokens.issue": "42",
    "email_tokens.owner": "42",
    "email_tokens.spend": "42",
    "digests.choose_hour": "53",
    "digests.readers": "53",
    "digests.news": "53",
    "digests.claim": "53",
    "digests.stop": "53",
    "sorting.newest": "8, 10",
    "sorting.cheapest": "43, 44",
    "sorting.discounted": "45",
    "votes.vote": "46",
    "votes.given": "46",
    "scores.of": "47",
    "scores.popular": "47",
    "scores.file": "47",
    "deal_log.note": "54",
    "deal_log.read": "54",
    "shops.category": "55",
    "shops.remember": "55",
    "drafts.save_new": "56",
    "drafts.save": "56",
    "drafts.get": "56",
    "drafts.of": "56",
    "drafts.discard": "56",
    "drafts.posted_as": "57",
    "drafts.post": "57",
    "drafts.sweep": "57",
}
"""The numbers of the access patterns that a function of the data layer serves, as the README's table has them."""

HELPERS = {
    "endings._due": "feeds.read",
    "endings._notes": "endings.upcoming",
    "feeds._query": "feeds.read",
    "memory.read": "page_cache.read",
    "memory.read_category": "page_cache.read_category",
    "feed_counts._books": "feeds.read",
    "feed_counts._topic": "feeds.read",
    "reading._parts": "reading.get",
    "reading._whole": "reading.get",
    "open_orders._by_day": "open_orders.read",
    "open_orders._open_in": "open_orders.read",
    "sorting._any": "sorting.cheapest",
    "sorting._brand": "topics.get",
    "scores._of_month": "scores.popular",
    "search._begun": "search.find",
    "search._counts": "search.find",
    "alerting._tell_owner": "alerting.cohort",
    "search._newest": "search.find",
}
"""Functions that run in a thread of their own, or keep what was read, each with the function that it works for."""

_BY_INDEX: Mapping[tuple[str, str | None], str] = {
    ("feeds.read", "GSI1"): "7",
    ("feeds.read", "GSI2"): "10",
    ("feeds.read", "GSI3"): "8",
    ("feeds.of_periods", "GSI1"): "7",
    ("sorting.cheapest", "GSI2"): "44",
    ("sorting.cheapest", "GSI3"): "43",
    ("sorting.discounted", "GSI2"): "44",
    ("messages.latest", None): "18",
    ("messages.latest", "GSI1"): "19",
}
"""Where the index tells which of several patterns it is."""


def pattern_of(source: str, index: str | None) -> str:
    """The numbers of the access patterns that a request by some function serves; nothing where it has none."""
    function = function_of(source)
    function = HELPERS.get(function, function)
    return _BY_INDEX.get((function, index), PATTERNS.get(function, ""))


def function_of(source: str) -> str:
    """The function that asked, with its module: ``feeds.read``."""
    module, _, rest = source.partition(":")
    return f"{module.rpartition('.')[2]}.{rest.partition(':')[0]}"
