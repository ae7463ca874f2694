"""The access patterns: their names, the functions that serve each, and how each is answered in one sentence."""

from __future__ import annotations

from collections.abc import Mapping

PATTERNS: Mapping[str, tuple[str, str]] = {
    "1": ("Create a deal", "deals.create oddities.create"),
    "2": ("Create a brand", "brands.create"),
    "3": ("Create the categories", "seeds.plant"),
    "4": ("Pick the front page's deals", "picks.set_featured"),
    "5": ("Pick a category's deals", "picks.set_category_featured"),
    "6": ("Pick the editor's choice", "picks.set_featured"),
    "7": ("Front page and latest deals", "page_cache.read feeds.read"),
    "8": ("Category page and its latest deals", "page_cache.read_category feeds.read sorting.newest"),
    "9": ("Editor's choice page", "picks.read page_cache.read"),
    "10": ("Latest deals of a brand", "feeds.read topics.get topics.get_many sorting.newest"),
    "11": ("All brands", "brands.names"),
    "12": ("One deal", "deals.find deals.get deal_numbers.place_of deals.get_many"),
    "13": ("Create a user", "users.create accounts.sign_up"),
    "14": ("Like a brand, unlike it", "follows.like follows.unlike"),
    "15": ("Watch a brand, stop watching", "follows.watch follows.unwatch follows.limit"),
    "16": ("Like a category, unlike it", "follows.like follows.unlike"),
    "17": ("Watch a category, stop watching", "follows.watch follows.unwatch follows.limit"),
    "18": ("Messages of a user", "messages.latest"),
    "19": ("Unread messages of a user", "messages.latest messages.unread_count"),
    "20": ("Mark a message read", "messages.mark_read messages.mark_all_read"),
    "21": ("Hot deal: message every user", "deals.make_hot users.count fanout.deliver fanout_progress.read"),
    "22": ("New deal: message the brand's watchers", "fanout.deliver"),
    "23": ("New deal: message the category's watchers", "fanout.deliver"),
    "24": (
        "Sign in, be known, sign out, sign out everywhere",
        "users.get accounts.own sessions.start sessions.authenticate sessions.end sessions.end_all",
    ),
    "25": (
        "What do I like and watch?",
        "follows.watches follows.watching follows.likes follows.is_liked follows.is_watched",
    ),
    "26": (
        "Edit, expire or withdraw a deal",
        "deals.edit deal_pictures.record oddities.edit undoing.undo picks.refresh endings.sweep",
    ),
    "27": ("Save, replace, remove an address", "addresses.save addresses.remove addresses.of"),
    "28": ("A user and the newest orders", "reading.customer"),
    "29": ("Cart: put in, take out, view", "carts.put_in carts.take_out carts.view carts.pieces"),
    "30": ("Place an order", "placing.place"),
    "31": ("An order and its items", "reading.get reading.find reading.filled"),
    "32": ("Orders by status and time", "reading.latest"),
    "33": ("Send, deliver, cancel", "steps.advance steps.undo"),
    "34": ("Open orders, oldest first", "reading.closed open_orders.read"),
    "35": ("Stock", "stock.add stock.leave stock.of stock.find stock.find_many"),
    "36": ("Search", "search.find selecting.find selecting.page search.active"),
    "37": (
        "A deal's page: its product's other offers, its brand's deals",
        "deal_pages.read offers.offers offers.offers_of feeds.of_periods",
    ),
    "38": ("Save a deal; the saved ones", "saved.save saved.unsave saved.is_saved saved.latest"),
    "39": ("Count a click", "clicks.count clicks.is_first clicks.of"),
    "40": ("What ends soon", "endings.upcoming"),
    "41": ("What a brand or category had last", "offers.ended"),
    "42": (
        "Mailed links: a new password, a proved address",
        "email_tokens.issue email_tokens.owner email_tokens.spend",
    ),
    "43": ("Cheapest of a category, between two prices", "sorting.cheapest"),
    "44": ("Cheapest of a brand, also in a category", "sorting.cheapest"),
    "45": ("Biggest discounts of a category", "sorting.discounted"),
    "46": ("Vote a deal up or down, take it back", "votes.vote votes.given"),
    "47": ("Popular deals", "scores.of scores.popular scores.file"),
    "48": ("Alert on a product's price", "alerts.on_price"),
    "49": ("Alert on words", "alerts.on_words"),
    "50": ("One's alerts", "alerts.of alerts.get alerts.change alerts.remove"),
    "51": ("A deal's alerts: message those it meets", "alerting.cohort"),
    "52": ("A private feed", "feed_keys.make feed_keys.made_at feed_keys.revoke feed_keys.reader"),
    "53": ("The day's messages by mail", "digests.choose_hour digests.readers digests.news digests.claim digests.stop"),
    "54": ("Who changed what of a deal", "deal_log.note deal_log.read"),
    "55": ("A shop's usual category", "shops.category shops.remember"),
    "56": (
        "Keep a draft, plan when it is posted; one's drafts",
        "drafts.save_new drafts.save drafts.get drafts.of drafts.discard",
    ),
    "57": ("Post a draft, now or at its time", "drafts.posted_as drafts.post drafts.sweep"),
}
"""Each pattern's name, and the functions of the data layer that serve it, by its number in the README's table."""

SENTENCES: Mapping[str, str] = {
    "1": "One transaction puts the deal, its number and its source, and counts it in its feeds: all of it, or nothing.",
    "2": "One transaction puts the brand and adds its name to the one item that lists them all.",
    "3": "Puts what is not there yet, so that each deployment may do it again.",
    "4": "One item holds the picked deals in order, copied into it, so that the page is one read.",
    "5": "The picks stand in the category's own item, beside its counts.",
    "6": "As the front page's: one item, written whole.",
    "7": "One BatchGetItem of copies that the stream keeps rendered; older pages from GSI1, a partition for each day.",
    "8": "Its counts and its rendered copy in one BatchGetItem; older pages from GSI3, a partition for each day.",
    "9": "A rendered copy, or else the one item that holds the picks.",
    "10": "The brand's item, and GSI2 with a partition for each month: a brand posts less than a category.",
    "11": "One item holds all names: a page that shows every brand is one read.",
    "12": "The id is in the key; a number is an item of its own that names the id, so that it is unique.",
    "13": "One transaction puts the user, the account, the password and the address: "
    "each is unique because its key is.",
    "14": "One transaction puts the like, which is refused the second time, and counts it on the brand.",
    "15": "One transaction puts the watch in the brand's partition of watchers, and counts it.",
    "16": "As a brand's like: the two differ in their keys alone.",
    "17": "As a brand's watch: the two differ in their keys alone.",
    "18": "One partition for each user, newest first: an id that begins with the time is the sort key.",
    "19": "A sparse index: only unread messages have the keys of GSI1, so it holds nothing else.",
    "20": "One conditional update takes the keys of GSI1 away, and the message leaves the index of the unread.",
    "21": "A parallel scan of an index that holds users alone; who was told is noted segment by segment.",
    "22": "One Query of the brand's watchers, then a message for each, once, however often the work comes again.",
    "23": "One Query of the category's watchers, then a message for each, once.",
    "24": "The token's hash is the key, so one consistent read knows who asks; GSI1 finds all sessions of a user.",
    "25": "The watch is turned around: in the table by topic, in GSI1 by user.",
    "26": "One transaction writes what changed, if the version is still the one that was read, and moves the counts.",
    "27": "A map in the user's item: few, small, and never asked for alone.",
    "28": "One Query, backward, reads the user and the newest orders: their keys lie beside each other.",
    "29": "A partition for each user that expires by itself; the deals are read as they are now by one BatchGetItem.",
    "30": "One transaction puts the order and takes the pieces from the stock: nothing is sold twice.",
    "31": "The order's parts share a key of GSI1, and one Query reads them together.",
    "32": "The sort key of GSI2 begins with the status, then the time: a beginning of it asks for one status or all.",
    "33": "One transaction, refused if the order is no longer as it was read.",
    "34": "Open orders alone have the keys of GSI3: a sparse index, a partition for each status and day.",
    "35": "Pieces lie in several items, so that a rush does not meet at one; a note says in how many.",
    "36": "An item for each word of a deal, which names the others: a search reads its rarest word's partition alone.",
    "37": "All offers of one product lie in one partition, named by a hash of its link.",
    "38": "A partition for each user, newest first, and one BatchGetItem for the deals as they are now.",
    "39": "One update adds one; an item that expires remembers who was counted.",
    "40": "A partition for each day on which deals end, written when they are posted.",
    "41": "What ended leaves the feed's partition for one of its own, newest first.",
    "42": "An item under a hash of token and account; what uses the token up deletes it, in one transaction.",
    "43": "One Query of GSI3, whose sort key is the price with leading zeros: BETWEEN asks for exactly what is shown.",
    "44": "One Query of GSI2 by price; other categories, and the order by discount, "
    "are left to the function that reads.",
    "45": "One backward Query of GSI1, which is sparse: only listed deals with a discount are in it.",
    "46": "One transaction puts the vote and adds it to the deal's score, an item of its own: votes do not meet edits.",
    "47": "A score's sort key in GSI1 is its logarithm plus the deal's age, "
    "so time alone lets it sink and no job does.",
    "48": "One transaction puts the alert into its owner's partition, and counts it on the account: a hundred at most.",
    "49": "As one on a price; it is looked up by the rarest of its words, so that few are read in vain.",
    "50": "They lie together under their owner's name: a list needs no index, nor does a removal.",
    "51": "One Query of its product's alerts from its price up, and one for each word of a new deal.",
    "52": "An item under the hash of its key says whose it is; a note under the name, which a new key replaces.",
    "53": "Who wants them at an hour is one partition of GSI1; a receipt for each account and day is put once.",
    "54": "The stream puts a line for each change: its id is made of the record's time and number, so it is put once.",
    "55": "An item under the shop's host, which the stream puts over the one before.",
    "56": "A partition of the editor's own; what is planned has a note "
    "in the partition of all that is to come, by time.",
    "57": "The transaction that posts any deal removes draft and note, too: it is posted once, whoever does it.",
}
"""How the table answers each of them."""

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


def patterns_of(source: str, index: str | None) -> list[str]:
    """The numbers of the access patterns that a request by some function serves; none where it has none."""
    function = function_of(source)
    function = HELPERS.get(function, function)
    if (function, index) in _BY_INDEX:
        return [_BY_INDEX[function, index]]
    return [number for number, (_, functions) in PATTERNS.items() if function in functions.split()]


def function_of(source: str) -> str:
    """The function that asked, with its module: ``feeds.read``; nothing where no function of the data layer did."""
    module, _, rest = source.partition(":")
    return f"{module.rpartition('.')[2]}.{rest.partition(':')[0]}" if source else ""
