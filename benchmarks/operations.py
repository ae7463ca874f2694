"""The cost of the site's operations: capacity units, round trips, processor time, log lines, bytes.

They are counted while the functions' own handlers run, on dynoxide, whose capacity figures are DynamoDB's
(``tests/dynamodb/test_engines.py``), and on the local cloud's SQS.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import mean, median
from typing import Any

from benchmarks.formulas import Invocation, Operation
from benchmarks.requests import CONTEXT, fill, new_queue, request
from functions.api import accounts, authorizer, catalog, editors, members
from functions.background import expiry, messenger, publisher, refresher, remover
from infra.functions import BY_NAME, FUNCTIONS
from shared import settings
from shared.api.bodies import NewDeal
from shared.data import keys
from shared.data.catalog import deals, picks, topics
from shared.data.members import fanout, sessions, users
from shared.dynamodb.table import Table
from shared.dynamodb.tracing import Trace
from shared.http import cached_pages
from shared.models.catalog import FRONT_PAGE, Deal
from shared.runtime import environment
from shared.values import identifiers, times
from shared.values.passwords import hash_password
from tests.support.engines import DYNOXIDE_ENGINE, MINISTACK
from tests.support.factories import a_user
from tests.support.surroundings import batch, event, given, record, taken

PASSWORD = "correct horse battery staple"  # of a user who exists here only
READERS = 2 * settings.READERS_PER_COHORT
NEW = {
    "title": "Men's ActiveIce Spectrum Sun Long Sleeve Tee",
    "link": "https://shop.example/products/mens-activeice-spectrum-sun-long-sleeve-tee-322375",
    "image": "https://cdn.shop.example/files/3223753061A1.png?v=1768339448",
    "price": "52.50",
    "listPrice": "75.00",
    "brand": "outdoor-research",
    "category": "clothing",
}


@dataclass(frozen=True, slots=True)
class Measured:
    """The operations, and the front page's size in bytes: plain, and compressed by gzip at its usual level, 6."""

    operations: tuple[Operation, ...]
    plain: int
    packed: int


def measure(rounds: int) -> Measured:
    """Do everything this many times."""
    with _engines() as store, redirect_stdout(LINES):
        posted, token = _fill(store)
        refresher.handler({}, CONTEXT)
        page = catalog.handler(request("GET", "/front-page"), CONTEXT)["body"].encode()
        operations = tuple(_operations(store, posted, token, rounds))
    return Measured(operations, len(page), len(gzip.compress(page, 6)))


TRACE = Trace()
SENT: list[str] = []
"""The requests to SQS."""

LINES = io.StringIO()
"""The functions' log: their loggers are made while this is the output."""


@dataclass(slots=True)
class Run:
    """The cost of an operation, each time that it was done."""

    invocations: list[Invocation] = field(default_factory=list)
    reads: float = 0.0
    writes: float = 0.0
    queue: float = 0.0
    body: int = 0

    def call(self, function: Any, event: Mapping[str, Any]) -> Any:
        """Invoke a handler and note its cost."""
        TRACE.start_over()
        SENT.clear()
        LINES.seek(0)
        LINES.truncate()
        began = time.process_time()
        answer = function.handler(dict(event), CONTEXT)
        cpu = (time.process_time() - began) * 1000
        name = function.__name__.rpartition(".")[2]
        logged = LINES.getvalue().encode()
        assert TRACE.silent == 0, f"{name}: {TRACE.silent} answers had no capacity"
        memory, lines = BY_NAME[name].memory, logged.count(b"\n")
        self.invocations.append(Invocation(name, memory, cpu, TRACE.round_trips, len(logged), lines))
        self.reads += TRACE.capacity.read
        self.writes += TRACE.capacity.write
        self.queue += len(SENT)
        if isinstance(answer, dict) and "statusCode" in answer:
            assert answer["statusCode"] < 300, answer
            body = answer["body"] or ""
            self.body = len(body) * 3 // 4 if answer["isBase64Encoded"] else len(body.encode())
        return answer


def _measure(name: str, rounds: int, do: Callable[[Run], None], **others: Any) -> Operation:
    """An operation done many times: the mean of what is counted, the median of processor time."""
    do(Run())  # the first one also makes what is made only once
    runs = [Run() for _ in range(rounds)]
    for run in runs:
        do(run)
    invocations = tuple(
        replace(
            step[0],
            cpu=median(each.cpu for each in step),
            waits=median(each.waits for each in step),
            log_bytes=mean(each.log_bytes for each in step),
            log_lines=mean(each.log_lines for each in step),
        )
        for step in zip(*(run.invocations for run in runs), strict=True)
    )
    reads, writes, queue = (
        mean(run.reads for run in runs),
        mean(run.writes for run in runs),
        mean(run.queue for run in runs),
    )
    return Operation(name, invocations, reads, writes, body=runs[-1].body, queue=queue, **others)


def _operations(store: Table, posted: list[Deal], token: str, rounds: int) -> Iterator[Operation]:
    def asked(name: str, do: Callable[..., None], **given: Any) -> Operation:
        return _measure(name, rounds, partial(do, **given), requests=1)

    yield asked("front page, from its cached copy", _ask, path="/front-page")
    yield asked("front page, made from the indexes", _ask, path="/front-page", limit="24")
    yield asked("one deal", _ask, path=f"/deals/{posted[0].deal_id}")
    yield asked("like", _follow, store=store, token=token, verb="like")
    yield asked("watch", _follow, store=store, token=token, verb="watch")
    yield asked("sign-in", _sign_in)
    yield asked("deal posted, without watchers", _post, store=store, token=token)
    yield _measure("a minute's work of the clock", rounds, _minute)
    yield _measure("hot deal, for each reader", 5, partial(_tell, store=store), count=settings.READERS_PER_COHORT)


def _ask(run: Run, path: str, **query: str) -> None:
    cached_pages.memory.cache_clear()  # copies are kept for a second, and a round is far shorter
    run.call(catalog, request("GET", path, query=query, packed=True))


def _follow(run: Run, store: Table, token: str, verb: str) -> None:
    """A like or a watch, each of a brand that has none yet."""
    slug = f"brand-{secrets.token_hex(6)}"
    topics.create_brand(store, slug, slug, times.now())
    _call_signed_in(run, members, token, request("PUT", f"/brands/{slug}/{verb}", packed=True))


def _sign_in(run: Run) -> None:
    run.call(accounts, request("POST", "/sessions", body={"username": "ana", "password": PASSWORD}, packed=True))


def _post(run: Run, store: Table, token: str) -> None:
    """An editor's POST and what follows by the stream: caches rebuilt, two empty cohorts notified."""
    new = {**NEW, "sourceId": secrets.token_hex(8)}
    answer = _call_signed_in(run, editors, token, request("POST", "/deals", body=new, packed=True))
    deal_id = json.loads(answer["body"])["dealId"]
    records = batch([record(None, store.get(keys.deal(deal_id), consistent=True))])
    run.call(publisher, records)
    run.call(refresher, records)
    run.call(messenger, _messages(taken(environment.queue())))
    run.queue += 2  # Lambda receives both cohorts with one request and deletes them with another


def _minute(run: Run) -> None:
    by_name = {"expiry": expiry, "refresher": refresher, "remover": remover}
    for row in FUNCTIONS:
        if row.each_minute:
            run.call(by_name[row.name], {"source": "aws.events"})


def _tell(run: Run, store: Table) -> None:
    """One cohort of a hot deal's readers, which has a next one."""
    now = times.now()
    new = NewDeal.model_validate({**NEW, "sourceId": secrets.token_hex(8)})
    deal = deals.create(store, new.to_deal(now, secrets.token_bytes(16)), now)
    (unit,) = fanout.alarm_of(deals.make_hot(store, deal.deal_id, now), segments=1)
    run.call(messenger, _messages([unit.to_json()]))
    taken(environment.queue())  # the next cohort, which nobody works on here
    run.queue += 2 / 5  # Lambda receives and deletes up to five cohorts with two requests


def _call_signed_in(run: Run, function: Any, token: str, asked: dict[str, Any]) -> Any:
    """Ask with a session, through the authorizer as the gateway does."""
    asked["headers"]["Authorization"] = f"Bearer {token}"
    arn = "arn:aws:execute-api:us-east-1:123456789012:b16dea15ab/v1/GET/"
    asked["requestContext"]["authorizer"] = run.call(authorizer, {**asked, "methodArn": arn})["context"]
    return run.call(function, asked)


def _messages(bodies: list[str]) -> dict[str, Any]:
    """Messages of the queue, as Lambda hands them to the messenger."""
    like = event("messenger-work")["Records"][0]
    return {"Records": [{**like, "messageId": f"{number}", "body": body} for number, body in enumerate(bodies)]}


@contextmanager
def _engines() -> Iterator[Table]:
    """An environment as the stack gives it to the functions, and the table in it."""
    with DYNOXIDE_ENGINE.table() as store, MINISTACK.bare_table() as cloud:
        os.environ |= given(
            store,
            QUEUE_URL=new_queue(cloud).url,
            STAGE="prod",
            POWERTOOLS_SERVICE_NAME="catalog",
            POWERTOOLS_METRICS_NAMESPACE="BigTimeDeals-prod",
            AWS_ENDPOINT_URL_SQS=cloud.client.meta.endpoint_url,
        )
        for made in (environment.table, environment.queue, environment.logger):
            made.cache_clear()
        environment.budget().answer = 30  # a request that a busy machine has asked twice would be counted twice
        TRACE.attach(environment.table())
        environment.queue().client.meta.events.register(
            "before-parameter-build.sqs", lambda model, **_: SENT.append(model.name)
        )
        yield environment.table()


def _fill(store: Table) -> tuple[list[Deal], str]:
    """Sixty deals of the sample, ten of them picked, an editor and readers; returns the deals and a token."""
    now = times.now()
    posted = fill(store)
    picks.set_featured(store, FRONT_PAGE, [deal.deal_id for deal in posted[:10]], now)
    ana = a_user("ana", password_hash=hash_password(PASSWORD), role="editor", created_at=now)
    for user in (ana, *(a_user(f"reader{number}") for number in range(READERS))):
        users.create(store, user)
    token, _ = sessions.start(store, ana, now, secrets.token_bytes(identifiers.BYTES))
    return posted, token
