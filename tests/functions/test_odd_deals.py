"""A deal that was hardly meant is asked about, however it is posted or edited: by REST, by btd, and on pages."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
from typer.testing import CliRunner, Result

from cli.main import app
from shared.data import keys
from shared.data.catalog import deals, topics
from shared.models.catalog import Deal
from shared.values import times
from tests.signed_in.conftest import MODULES, entered
from tests.support.browsing import ORIGIN, Browser
from tests.support.cases import cases_by_name
from tests.support.gateway import in_process
from tests.support.odd import Fields, Question, Ways
from tests.support.site import assert_problem, fresh


def by_rest(ways: Ways, fields: Fields, deal: Deal | None) -> Question | None:
    how = ("PATCH", f"/deals/{deal.deal_id}") if deal else ("POST", "/deals")
    answer = ways.visitor.request(*how, json=fields)
    if answer.is_success:
        return None
    odd = {error["field"]: error["detail"] for error in answer.json()["errors"]}
    assert_problem(answer, 409, *odd)
    confirmed = {"confirm": ",".join(odd)}
    assert f"confirm={confirmed['confirm']}" in answer.json()["detail"]
    assert odd.keys() <= fields.keys()
    return Question(" ".join(odd.values()), lambda: ways.visitor.request(*how, json=fields, params=confirmed))


def by_btd(ways: Ways, fields: Fields, deal: Deal | None) -> Question | None:
    options = {"listPrice": "--list-price", "expiresAt": "--expires-at"}
    words = ["deals", "edit", str(deal.number)] if deal else ["deals", "create"]
    for name, value in fields.items():
        words += ["--set", f"{name}={value}"] if deal else [options.get(name, f"--{name}"), value]

    def run(*more: str, answer: str) -> Result:
        return CliRunner().invoke(app, [*words, *more], input=answer)

    said_no = run(answer="n\n")
    if said_no.exit_code == 0:
        return None
    assert said_no.exit_code == 1
    return Question(said_no.output, lambda: run(answer="y\n") if deal else run("--yes", answer=""))


WAYS = {"REST": by_rest, "btd": by_btd, **cases_by_name("ASKS_IF_ODD")}


@pytest.fixture(scope="module")
def ways() -> Iterator[Ways]:
    with in_process() as api, pytest.MonkeyPatch.context() as environment:
        place = api.table.client.meta.endpoint_url
        given = {"BTD_TABLE": api.table.name, "AWS_ENDPOINT_URL": place, "AWS_REGION": "us-east-1", "COLUMNS": "200"}
        for name, value in {**given, "SITE_ORIGIN": ORIGIN, "SITE_BASE": ""}.items():
            environment.setenv(name, value)
        topics.create_brand(api.table, "apple", "Apple", times.now())
        handlers = {prefix: module.handler for prefix, module in MODULES.items()}
        browser = Browser(handlers, dict(entered(api.table, "eddy", "editor").cookies))
        yield Ways(api, browser, api.editor())


def body() -> dict[str, str]:
    """A deal of which nothing is odd."""
    soon = times.to_iso(times.now() + timedelta(days=1))
    prices = {"price": "20.00", "listPrice": "30.00", "expiresAt": soon}
    title = fresh("Runner")
    return {"title": title, "link": "https://shop.example/1", "brand": "apple", "category": "shoes", **prices}


def posted(ways: Ways, fields: Fields) -> Deal:
    """A deal that an editor has posted."""
    return deals.get(ways.api.table, ways.visitor.post("/deals", json=fields).json()["dealId"], consistent=True)


def everything(ways: Ways) -> list[Deal]:
    """All deals of the table, ended ones too."""
    items, _ = ways.api.table.scan()
    return deals.readable(item for item in items if item["Type"] == keys.DEAL)


ENDED, NO_SAVING = "This deal ended 3 hours ago: readers won't see it.", "The price is not below the list price"
ODD = {"ended": [ENDED], "at its list price": [NO_SAVING], "both": [ENDED, NO_SAVING]}


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("exists", [False, True], ids=["posted", "edited"])
@pytest.mark.parametrize("way", WAYS)
def test_an_odd_deal_is_written_only_when_its_editor_means_it(ways: Ways, way: str, exists: bool, odd: str) -> None:
    new = body()
    old = posted(ways, new) if exists else None
    ended = times.to_iso(times.now() - timedelta(hours=3, minutes=5))
    changed = {"expiresAt": ended} if ENDED in ODD[odd] else {}
    changed |= {"price": "30.00"} if NO_SAVING in ODD[odd] else {}
    writes = ways.api.writes()

    question = WAYS[way](ways, changed if old else new | changed, old)

    assert question is not None
    assert all((each in question.words) is (each in ODD[odd]) for each in (ENDED, NO_SAVING))
    assert writes.keys() == []
    question.yes()
    (written,) = [deal for deal in everything(ways) if deal.title == new["title"]]
    assert (times.to_iso(written.ends_at or times.now()), written.price) == (
        changed.get("expiresAt", new["expiresAt"]),
        changed.get("price", new["price"]),
    )


@pytest.mark.parametrize("exists", [False, True], ids=["posted", "edited"])
@pytest.mark.parametrize("way", WAYS)
def test_a_deal_that_is_not_odd_is_written_without_a_question(ways: Ways, way: str, exists: bool) -> None:
    new = body()
    old = posted(ways, new) if exists else None

    assert WAYS[way](ways, {"price": "19.00"} if old else new, old) is None

    (written,) = [deal for deal in everything(ways) if deal.title == new["title"]]
    assert written.price == ("19.00" if old else "20.00")


@pytest.mark.parametrize("name", ["confirm", "anyway"])
@pytest.mark.parametrize("value", ["", "true", "price,", "title"])
def test_a_confirmation_of_no_field_is_refused_under_the_old_name_too(ways: Ways, name: str, value: str) -> None:
    assert_problem(ways.visitor.post("/deals", json=body(), params={name: value}), 400, name)


def test_a_warning_is_confirmed_under_the_old_name_of_the_parameter_too(ways: Ways) -> None:
    odd = {**body(), "price": "30.00"}

    answers = [ways.visitor.post("/deals", json=odd, params=each) for each in ({}, {"anyway": "price"})]

    assert [answer.status_code for answer in answers] == [409, 201]
