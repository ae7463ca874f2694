"""The roles on a cloud that enforces them: a function may do all that it does, does all that it may, and no more.

What the functions do is recorded while the site is used. The cloud enforces operations, indexes and attributes by
itself; of the keys it does not tell IAM, so they are checked against the deployed policies here.
"""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import httpx
import pytest
from botocore import xform_name
from botocore.exceptions import ClientError

from infra.functions import FUNCTIONS
from local import cloud
from local.settings import REGION, access_key
from shared import settings
from shared.data import keys, removal
from shared.data.catalog import deals, feed_counts, topics
from shared.data.catalog.deals import to_item_listed
from shared.data.catalog.page_cache import FRONT_PAGE_PICKS, HTML, PICKED
from shared.data.members import sessions, users
from shared.data.members.cohorts import Unit
from shared.dynamodb.attributes import marshal_item
from shared.dynamodb.schema import GSI2, USER_INDEX, Index, Key
from shared.dynamodb.table import Projection
from shared.dynamodb.writes import forget, put, update
from shared.models.catalog import BRAND, CATEGORY, EDITORS_CHOICE, FRONT_PAGE, Period, Topic
from shared.values import times
from tests.e2e.conftest import Plumbing, client, ministack
from tests.functions.test_background_functions import cloudformation
from tests.support import factories
from tests.support.cases import cases
from tests.support.commands import PATIENCE, until
from tests.support.engines import put_all
from tests.support.rights import Ask, Policy, asks, is_granted
from tests.support.site import PASSWORD, Site, Visitor, a_brand, a_deal, fresh
from tests.support.surroundings import event

SHOES = Topic(CATEGORY, "shoes")


@dataclass(frozen=True, slots=True)
class Role:
    """A function's role as it is deployed."""

    arn: str
    access_key: str
    policy: Policy


@pytest.fixture(scope="module")
def roles(site: Site) -> dict[str, Role]:
    """The role of each function, by the function's module."""
    iam, functions = client(site, "iam"), client(site, "lambda").list_functions(MaxItems=50)["Functions"]
    found = {}
    for function in functions:
        module = function.get("Environment", {}).get("Variables", {}).get("POWERTOOLS_SERVICE_NAME")
        if module is None:  # a laboratory's
            continue
        name = function["Role"].rsplit("/", 1)[1]
        documents = [
            iam.get_role_policy(RoleName=name, PolicyName=policy)["PolicyDocument"]
            for policy in iam.list_role_policies(RoleName=name)["PolicyNames"]
        ]
        statements = [statement for document in documents for statement in document["Statement"]]
        # The cloud makes the key of a function's session of the two addresses and the checkout's secret.
        secret = access_key(site.home).secret.encode()
        digest = hmac.new(secret, f"{function['FunctionArn']}:{function['Role']}".encode(), "sha256").hexdigest()
        table = f"arn:aws:dynamodb:{REGION}:000000000000:table/{site.table.name}"
        found[module] = Role(function["Role"], f"ASIA{digest[:16].upper()}", Policy(statements, table))
    return found


@dataclass(frozen=True, slots=True)
class Recording:
    """The requests of each function while the site was used: pairs of a service's operation and its arguments."""

    requests: Mapping[str, list[tuple[str, str, Mapping[str, Any]]]]

    def asked(self, module: str) -> set[Ask]:
        """The questions that DynamoDB asked IAM on behalf of a function."""
        return {
            ask
            for service, operation, request in self.requests[module]
            if service == "dynamodb"
            for ask in asks(operation, request)
        }

    def elsewhere(self, module: str) -> set[tuple[str, str]]:
        """The requests of a function to other services."""
        return {(service, operation) for service, operation, _ in self.requests[module] if service != "dynamodb"}


@pytest.fixture(scope="module")
def recording(site: Site, roles: dict[str, Role]) -> Recording:
    """All that the functions ask for while everything that the site offers is used once."""
    ministack(site, "POST", "config", json={"cloudtrail._recording_enabled": "true"})
    _use(site)
    assert cloud.drain(site.home, PATIENCE) == {}  # what follows from it belongs to it
    found = {module: list(_requests(site, role)) for module, role in roles.items()}
    ministack(site, "POST", "config", json={"cloudtrail._recording_enabled": "false"})
    return Recording(found)


def _requests(site: Site, role: Role) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    """A role's recorded requests, newest first. MiniStack answers with 50 at most, so they are asked for by time, to
    the microsecond: boto3 sends whole seconds, so more than 50 requests within a second would hide some of them."""
    wanted: dict[str, Any] = {"LookupAttributes": [{"AttributeKey": "AccessKeyId", "AttributeValue": role.access_key}]}
    seen: set[str] = set()
    while fresh_events := [each for each in _events(site, wanted) if each["EventId"] not in seen]:
        for each in fresh_events:
            seen.add(each["EventId"])
            service = each["EventSource"].removesuffix(".amazonaws.com")
            yield service, each["EventName"], json.loads(each["CloudTrailEvent"])["requestParameters"]
        wanted["EndTime"] = fresh_events[-1]["EventTime"]


def _events(site: Site, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The newest recorded requests that are wanted, 50 at most."""
    headers = {
        "Authorization": f"AWS4-HMAC-SHA256 Credential={access_key(site.home).key_id}/20260101/{REGION}/cloudtrail/",
        "Content-Type": "application/x-amz-json-1.1",
        "X-Amz-Target": "CloudTrail_20131101.LookupEvents",
    }
    answer = httpx.post(site.endpoint, headers=headers, json=wanted, trust_env=False, timeout=PATIENCE)
    events: list[dict[str, Any]] = answer.raise_for_status().json()["Events"]
    return events


def _use(site: Site) -> None:
    """Do everything that can be done at the site, by HTTP where there is a route."""
    plumbing, editor = Plumbing.of(site), site.editor("privileged")
    _use_after_a_day(site, editor)
    brand, other = (a_brand(editor) for _ in range(2))
    ana, bo = site.member("ana"), site.member("bo")
    for member in (ana, bo):
        _follow(member, "PUT", brand, "like", "watch")

    deal_ids = _post_and_change(site, editor, brand, other)
    _follow(ana, "PUT", brand, "watch", json={"ceiling": "900.00"})
    for use in cases("USES"):
        use(site, ana, bo, deal_ids)
    _pick(site, editor, deal_ids)
    _read(site, brand)
    _tell(site, plumbing, editor, deal_ids[0])
    _tell_more_than_a_page(site, editor)
    _alert(plumbing, editor, ana, deal_ids[4])
    _read_messages(ana, brand)
    _end(site, plumbing, editor, brand)
    _count_bargains(site, plumbing)
    with cloudformation() as (address, _):
        plumbing.call("Seed", event("seed-create") | {"ResponseURL": address})
    _leave(site, bo, brand)
    _be_removed_by_the_clock(site, plumbing, brand, deal_ids[1])


def _count_bargains(site: Site, plumbing: Plumbing) -> None:
    """Have the clock count what the front page's bargains have, as once an hour: without a copy there are no counts. No
    build that began before may go on, for it would put back the counts that it read."""
    assert cloud.drain(site.home, PATIENCE) == {}
    for shard in range(1, settings.CACHE_SHARDS + 1):
        site.table.write(forget(FRONT_PAGE_PICKS.key(shard, HTML), because="a test's own"))
    plumbing.call("Refresher", event("refresher-schedule"))


def _use_after_a_day(site: Site, visitor: Visitor) -> None:
    """Use a session again after a day, which notes its use."""
    yesterday = {":at": times.to_iso(times.now() - timedelta(days=1))}
    session = keys.session(sessions.id_of(visitor.token))
    site.table.write(update(session, "SET UsedAt = :at", values=yesterday, refused=None))
    (used,) = (each["usedAt"] for each in visitor.get("/sessions").json()["items"])
    assert used > yesterday[":at"]


def _follow(member: Visitor, method: str, brand: str, *verbs: str, category: str = "shoes", **how: Any) -> None:
    """Like or watch a brand and a category, or end that."""
    for path, verb in product((f"/brands/{brand}", f"/categories/{category}"), verbs):
        assert member.request(method, f"{path}/{verb}", **how).status_code == 200


def _post_and_change(site: Site, editor: Visitor, brand: str, other: str) -> list[str]:
    """Post deals, one of them over, one alone in its month; edit, move, withdraw. Returns five that are left."""
    once = {"Idempotency-Key": fresh("key")}
    body = a_deal(brand, sourceId=fresh("source:"), expiresAt="2037-01-01T00:00:00Z")
    first, again = (editor.post("/deals", json=body, headers=once).json() for _ in range(2))
    assert first["dealId"] == again["dealId"]
    over = a_deal(brand, createdAt="2026-03-01T00:00:00Z", expiresAt="2026-04-01T00:00:00Z")
    assert editor.post("/deals", json=over).status_code == 201
    alone = editor.post("/deals", json=a_deal(brand, createdAt="2021-02-03T00:00:00Z")).json()["dealNumber"]
    _damage_counts(site, deals.find(site.table, str(alone)).deal_id)
    assert editor.patch(f"/deals/{alone}", json={"withdrawn": True}).status_code == 200

    number = first["dealNumber"]
    for change in (
        {"expiresAt": "2037-02-01T00:00:00Z"},
        {"link": "https://shop.example/of-another-product"},
        {"brand": other, "category": "bags"},
        {"expiresAt": None},
        {"withdrawn": True},
    ):
        assert editor.patch(f"/deals/{number}", json=change).status_code == 200
    assert until(lambda: len(editor.get(f"/deals/{number}/log").json()["items"]) == 6)
    return [str(editor.post("/deals", json=a_deal(brand)).json()["dealId"]) for _ in range(5)]


def _damage_counts(site: Site, deal_id: str) -> None:
    """Damage what counts a deal in its three feeds: who writes the deal next counts anew."""
    for key, _ in feed_counts.counters(deals.get(site.table, deal_id, consistent=True)):
        site.table.write(update(key, "REMOVE #total", names={"#total": feed_counts.TOTAL}, refused=None))


def _pick(site: Site, editor: Visitor, deal_ids: list[str]) -> None:
    """Pick the deals for each page, then change one: its copies follow."""
    for path in ("/front-page", "/editors-choice", "/categories/shoes"):
        assert editor.put(f"{path}/featured", json={"dealIds": deal_ids}).status_code == 200
    editor.patch(f"/deals/{deal_ids[0]}", json={"title": "Renamed"})

    def titles(key: Key) -> list[str]:
        return [copy["Title"] for copy in (site.table.get(key, consistent=True) or {})["Featured"]]

    pages = [keys.featured(of) for of in (FRONT_PAGE, EDITORS_CHOICE, SHOES)]
    assert until(lambda: all("Renamed" in titles(page) for page in pages))


def _read(site: Site, brand: str) -> None:
    """Read what anyone may, also where no copy is cached."""
    visitor = site.visitor()
    copies = [
        {**keys.page_cache(page, shard), "Type": PICKED[page].type}
        for page, shard in product((FRONT_PAGE, EDITORS_CHOICE), range(1, settings.CACHE_SHARDS + 1))
    ]
    for copy in copies:  # into ones that nobody can read and no build replaces, for each began earlier
        spoilt = {**copy, "Body": b"", "BuiltAt": 2**53, "ExpiresAt": 0}
        site.table.write(put(spoilt, because="a test's own"))
    newest = visitor.get("/deals?limit=2").json()["items"][0]
    for path in (
        "/front-page", "/front-page?limit=1", "/editors-choice", "/deals", f"/deals/{newest['dealId']}",
        f"/deals/{newest['dealNumber']}", "/brands", f"/brands/{brand}", f"/brands/{brand}/deals",
        "/categories/shoes", "/categories/shoes?limit=1", "/categories/shoes/deals?limit=1",
        "/categories/shoes/deals?sort=cheapest", "/categories/shoes/deals?sort=discount",
        f"/brands/{brand}/deals?sort=cheapest",
    ):  # fmt: skip
        assert visitor.get(path).status_code == 200, path
    assert until(lambda: bool(visitor.get("/deals?q=trail+runner").json()["items"]))
    for copy in copies:
        site.table.write(forget(keys.primary(copy), because="a test's own"))


def _tell(site: Site, plumbing: Plumbing, editor: Visitor, deal_id: str) -> None:
    """Tell everyone of a deal, and of one that was withdrawn meanwhile."""
    assert editor.put(f"/deals/{deal_id}/hot").status_code == 202
    assert until(lambda: bool(editor.get(f"/deals/{deal_id}/hot").json()["finished"]))
    withdrawn = editor.post("/deals", json=a_deal(editor.get("/brands").json()["items"][0]["brand"])).json()["dealId"]
    editor.patch(f"/deals/{withdrawn}", json={"withdrawn": True})
    work = event("messenger-work")
    for record in work["Records"]:
        record["body"] = json.dumps(json.loads(record["body"]) | {"dealId": withdrawn, "kind": "hot"})
    assert plumbing.call("Messenger", work) == {"batchItemFailures": []}
    # Had that delivery ended before its end, the cohort would come again, and look who of it is still there.
    unit = Unit.from_json(work["Records"][0]["body"])
    marker = keys.fan_out_page(unit.deal_id, unit.kind, unit.segment, "")
    interrupted = {":readers": [editor.username]}
    site.table.write(update(marker, "SET Readers = :readers REMOVE Done", values=interrupted, refused=None))
    assert plumbing.call("Messenger", work) == {"batchItemFailures": []}


def _tell_more_than_a_page(site: Site, editor: Visitor) -> None:
    """Have a brand with more watchers than a cohort of readers holds, and post a deal of it."""
    brand = a_brand(editor)
    usernames = [fresh("watcher") for _ in range(settings.READERS_PER_COHORT + 1)]
    watch = {"Type": "BrandWatch"}
    put_all(site.table, [{**keys.watch(Topic(BRAND, brand), name), **watch, "Username": name} for name in usernames])
    editor.post("/deals", json=a_deal(brand))
    last = keys.messages(max(usernames))
    assert until(lambda: bool(list(site.table.query(last))))


def _alert(plumbing: Plumbing, editor: Visitor, member: Visitor, deal_id: str) -> None:
    """Be told of a price and of words; then the queue repeats itself."""
    number = editor.get(f"/deals/{deal_id}").json()["dealNumber"]
    _have_alerts(member, number)
    assert editor.patch(f"/deals/{number}", json={"price": "0.90"}).status_code == 200
    assert until(lambda: any("0.90" in message["subject"] for message in member.get("/messages").json()["items"]))
    assert len(member.get("/me/alerts").json()["items"]) == 2

    work = event("messenger-work")
    first = json.loads(work["Records"][0]["body"])
    brand = editor.get(f"/deals/{deal_id}").json()["brand"]["brand"]
    # The watchers of its brand were told when it was posted: the words that it meets are named in their messages.
    for kind in ("words", "words", "brand"):
        unit = first | {"dealId": deal_id, "kind": kind, "topic": brand, "topicName": brand}
        unit |= {"others": ["one that is gone"]} if kind == "words" else {}
        work["Records"] = [work["Records"][0] | {"body": json.dumps(unit)}]
        assert plumbing.call("Messenger", work) == {"batchItemFailures": []}
    removed = member.get("/me/alerts").json()["items"][0]["alertId"]
    assert member.delete(f"/me/alerts/{removed}").status_code == 204


def _have_alerts(member: Visitor, deal: str) -> None:
    """An alert on a deal's product, which is replaced, and one on words."""
    for ceiling in ("2.00", "1.00"):
        assert member.put(f"/me/alerts/deals/{deal}", json={"ceiling": ceiling}).status_code == 200
    assert member.post("/me/alerts", json={"words": "shoes"}).status_code == 200


def _read_messages(member: Visitor, brand: str) -> None:
    assert until(lambda: member.get("/messages/unread-count").json()["unread"] > 1)
    items = member.get("/messages").json()["items"]
    assert member.get("/messages?unread=true").status_code == 200
    assert member.put(f"/messages/{items[0]['messageId']}/read").status_code == 200
    assert member.get("/messages/unread-count").json()["unread"] > 0
    assert member.post("/messages/read-all").status_code == 200
    assert member.get("/me/watches").status_code == 200
    _follow(member, "DELETE", brand, "like", "watch")


def _end(site: Site, plumbing: Plumbing, editor: Visitor, brand: str) -> None:
    """Let one deal end, and another come back: it is in no feed, though it should be, and a stale note says so."""
    now = times.now()
    # The only deal of its year: the items that count it go with it.
    alone = a_deal(brand, createdAt="2025-03-05T00:00:00Z", expiresAt="2037-01-01T00:00:00Z")
    deal_id = editor.post("/deals", json=alone).json()["dealId"]
    _damage_counts(site, deal_id)
    back = replace(factories.a_deal(now), brand=brand, ends_at=datetime(2037, 3, 1, tzinfo=UTC))
    site.table.write(put(to_item_listed(back, listed=False), because="a test's own"))
    site.table.write(update(keys.deal(deal_id), "SET EndsAt = :now", values={":now": times.to_iso(now)}, refused=None))
    today = Period.DAY.start_of(now)
    for noted in (deal_id, back.deal_id):
        note = {**keys.ending(today, now - timedelta(minutes=1), noted), "Type": "Ending", "DealId": noted}
        site.table.write(put(note, because="a test's own"))
    earlier = Period.DAY.start_of(now - timedelta(days=2))
    site.table.write(update(keys.endings(), "SET SweptBefore = :day", values={":day": earlier}, refused=None))

    plumbing.call("Expiry", event("expiry-schedule"))

    assert "GSI1PK" not in (site.table.get(keys.deal(deal_id), consistent=True) or {})
    assert "GSI1PK" in (site.table.get(keys.deal(back.deal_id), consistent=True) or {})


def _leave(site: Site, member: Visitor, brand: str) -> None:
    """Change an account, and remove it with likes, watches, messages and what features have of it."""
    (deal,) = factories.post(site.table, [factories.a_deal(times.now(), brand=brand)], times.now())
    for give in cases("OWNS"):
        give(site.table, deal, member.username, times.now())
    _have_alerts(member, site.visitor().get("/deals?limit=1").json()["items"][0]["dealId"])
    _follow(member, "DELETE", brand, "watch")
    _follow(
        member, "PUT", next(slug for slug in topics.brand_names(site.table) if slug != brand), "watch", category="bags"
    )
    change = {"email": f"{fresh('new')}@mail.example", "name": "Bo", "password": PASSWORD[::-1]}
    assert member.patch("/me", json=change | {"currentPassword": PASSWORD}).status_code == 200
    for path, name in (
        ("/sessions/current", change["email"]),
        ("/sessions", member.username),
        ("/me", member.username),
    ):
        again = site.signs_in(name, PASSWORD[::-1])
        assert again.get("/me").status_code == 200
        assert again.delete(path).status_code == 204


def _be_removed_by_the_clock(site: Site, plumbing: Plumbing, brand: str, deal_id: str) -> None:
    """Remove an account that has something of all kinds, by the clock's function."""
    member, now = site.member("cy"), times.now()
    _follow(member, "PUT", brand, "like", "watch")
    for give in cases("OWNS"):
        give(site.table, deals.get(site.table, deal_id), member.username, now)
    _have_alerts(member, deal_id)
    factories.send(site.table, factories.a_message(username=member.username))

    removal.leave(site.table, users.get(site.table, member.username, consistent=True), now)
    plumbing.call("Remover", event("expiry-schedule"))

    # A delivery may have run beside it: the next owner of the name does not find what it wrote.
    factories.send(site.table, factories.a_message(username=member.username))
    account = {"username": member.username, "email": member.email, "password": PASSWORD, "name": "Cy"}
    assert until(lambda: site.visitor().post("/users", json=account).status_code == 201)


MODULES = tuple(row.name for row in FUNCTIONS if row.pages is None)
"""All functions but those of pages, whose tests hold each request against their rights (``support/rights.py``)."""


@pytest.mark.parametrize("module", MODULES)
def test_a_function_is_allowed_all_that_it_does(recording: Recording, roles: dict[str, Role], module: str) -> None:
    asked = recording.asked(module)

    assert asked
    assert {ask for ask in asked if not roles[module].policy.allows(ask)} == set()
    # MiniStack doesn't see the attributes of writes, so its stage's policies don't name them.
    assert {ask for ask in asked if not is_granted(module, ask)} == set()


@pytest.mark.parametrize("module", MODULES)
def test_a_function_does_all_that_it_is_allowed(recording: Recording, roles: dict[str, Role], module: str) -> None:
    policy, asked = roles[module].policy, recording.asked(module)

    unused = [right for right in policy.rights() if not any(_uses(ask, right) for ask in asked)]

    assert [right for right in unused if (module, right.operation) not in cases("UNUSED")] == []


def _uses(ask: Ask, right: Ask) -> bool:
    if (ask.operation, ask.index) != (right.operation, right.index):
        return False
    if right.attributes:
        return set(ask.attributes) <= set(right.attributes)
    return any(re.fullmatch(right.keys[0].replace("*", ".*"), key) for key in ask.keys)


def test_only_what_feeds_the_queues_asks_for_more_than_the_table_and_what_features_name(recording: Recording) -> None:
    """MiniStack records no request to SES, and names the tagging of a file by its method."""
    elsewhere = {(module, *asked) for module in MODULES for asked in recording.elsewhere(module)}

    assert elsewhere == {
        *((module, "sqs", "SendMessageBatch") for module in ("publisher", "messenger")),
        *cases("ELSEWHERE"),
    }


def _key(key: Key) -> dict[str, Any]:
    return {"Key": marshal_item(key)}


def _in(index: Index, partition: str) -> dict[str, Any]:
    return {
        "IndexName": index.name,
        "KeyConditionExpression": f"{index.partition_key} = :partition",
        "ExpressionAttributeValues": {":partition": {"S": partition}},
    }


USER, SESSION, DEAL = keys.user("nobody"), keys.session("none"), keys.deal("none")
ITEM = {"Item": marshal_item({**DEAL, "Type": "Deal"})}

REFUSED = [
    ("catalog", "PutItem", ITEM),
    ("catalog", "Query", _in(USER_INDEX, USER["PK"])),
    ("accounts", "Query", _in(GSI2, "none")),
    ("seed", "GetItem", _key(USER)),
    ("messenger", "DeleteItem", _key(keys.message("nobody", "none"))),
    ("messenger", "Scan", {"IndexName": USER_INDEX.name, **Projection.of("Username", "PasswordHash").arguments}),
]
"""Some of what a role may not do, and what already its operation, its index or its attributes tell the cloud. All that
no role may do is held by ``tests/infra/test_rights.py``, and by ``test_a_function_does_all_that_it_is_allowed``."""


@pytest.mark.parametrize(("module", "operation", "request_"), REFUSED)
def test_a_role_is_refused_what_is_not_its_own(
    site: Site, roles: dict[str, Role], module: str, operation: str, request_: dict[str, Any]
) -> None:
    dynamodb = _as(site, roles[module], "dynamodb")

    with pytest.raises(ClientError) as refusal:
        getattr(dynamodb, xform_name(operation))(TableName=site.table.name, **request_)

    assert refusal.value.response["Error"]["Code"] == "AccessDeniedException"
    assert not any(roles[module].policy.allows(ask) for ask in asks(operation, request_))


def test_ministack_does_not_pass_the_keys_to_iam(site: Site, roles: dict[str, Role]) -> None:
    """DynamoDB would refuse this. When MiniStack does, all that is refused by the keys can be tried on it."""
    answer = _as(site, roles["catalog"], "dynamodb").get_item(TableName=site.table.name, **_key(SESSION))

    assert "Item" not in answer


def test_ministack_asks_for_rights_that_aws_does_not_know(site: Site, roles: dict[str, Role]) -> None:
    """It asks for the batch where AWS asks for what is in it: the stage ``local`` grants both, and no other does."""
    for module, right in (("messenger", "dynamodb:BatchExecuteStatement"), ("publisher", "sqs:SendMessageBatch")):
        assert f'"{right}"' in json.dumps(roles[module].policy.statements)

    insert = {"Statement": f"INSERT INTO \"{site.table.name}\" VALUE {{'PK': 'x'}}"}
    with pytest.raises(ClientError, match="dynamodb:BatchExecuteStatement"):
        _as(site, roles["members"], "dynamodb").batch_execute_statement(Statements=[insert])


def test_a_queue_is_filled_by_what_feeds_it_and_emptied_by_nothing_else(site: Site, roles: dict[str, Role]) -> None:
    """The cloud refuses by the queue, too; ``tests/infra/test_rights.py`` says which functions send to it."""
    url = Plumbing.of(site).outputs["QueueUrl"]

    with pytest.raises(ClientError, match="AccessDenied"):
        _as(site, roles["catalog"], "sqs").send_message(QueueUrl=url, MessageBody="{}")
    with pytest.raises(ClientError, match="AccessDenied"):
        _as(site, roles["publisher"], "sqs").receive_message(QueueUrl=url)
    for module in ("publisher", "messenger"):
        with pytest.raises(ClientError, match="AccessDenied"):
            _as(site, roles[module], "sqs").purge_queue(QueueUrl=url)


def test_unknown_keys_open_nothing(site: Site) -> None:
    stranger = client(site, "dynamodb", aws_access_key_id="AKIAUNKNOWN", aws_secret_access_key="unknown")

    with pytest.raises(ClientError) as refusal:
        stranger.get_item(TableName=site.table.name, **_key(DEAL))

    assert refusal.value.response["Error"]["Code"] == "403"  # of the guard, which has no code of AWS's


def _as(site: Site, role: Role, service: str) -> Any:
    """A service's client with a role's credentials."""
    given = client(site, "sts").assume_role(RoleArn=role.arn, RoleSessionName="test")["Credentials"]
    return client(
        site,
        service,
        aws_access_key_id=given["AccessKeyId"],
        aws_secret_access_key=given["SecretAccessKey"],
        aws_session_token=given["SessionToken"],
    )
