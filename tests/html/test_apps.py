"""Apps from event to answer: routes, HEAD, errors in pages and as problems, headers, compression, base paths."""

from __future__ import annotations

import base64
import gzip
import io
import json
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared import errors
from shared.api import app
from shared.errors import DealsError
from shared.html import links, pages
from shared.html.pages import Answer, Request, Routes, serve
from shared.http import requests
from shared.http.answers import Guard, json_answer
from shared.http.requests import Event
from shared.runtime import environment, metrics
from shared.values import times
from tests.support.cases import cases
from tests.support.surroundings import a_context, event, event_of

AN_ID = "2XkDEALdealDEALdealDEALdeal"
OF_AN_ID: list[type[DealsError]] = [
    errors.DealIsOver,
    errors.NoSuchDeal,
    errors.NoSuchMessage,
    *cases("ERRORS_OF_AN_ID"),
]
FAILURES: dict[str, DealsError] = {
    "forged": errors.InvalidCursor(),
    "who": errors.NotSignedIn(),
    "member": errors.Forbidden("These pages are for editors."),
    "missing": errors.NoSuchDeal("12"),
    "later": errors.EditedMeanwhile(2),
    "large": errors.BodyTooLarge(1024),
    "wrong": errors.Invalid("A price is digits."),
    "slow": errors.SlowDown(60),
    "damaged": errors.Impossible("the table's own words"),
    "unreadable": errors.Damaged("ORDER#1", "the table's own words"),
    "away": errors.Unavailable("the table's own words"),
    **{kind.__name__: kind(AN_ID) for kind in OF_AN_ID},
}

routes = Routes()


@routes.get("/things/<name>.atom")
def feed(_request: Request, name: str) -> Answer:
    return Answer(f"<feed>{name}</feed>", media_type="application/atom+xml", cache=pages.PUBLIC)


@routes.get("/things/<name>")
def thing(_request: Request, name: str) -> Answer:
    return pages.problem_page(200, name)


@routes.post("/things/<name>")
def change(_request: Request, name: str) -> Answer:
    return pages.redirect(f"/things/{name}", notice="saved")


@routes.get("/fails/<how>")
def fails(_request: Request, how: str) -> Answer:
    raise FAILURES[how]


@routes.get("/breaks/<how>")
def breaks(_request: Request, how: str) -> Answer:
    return pages.redirect({"known": "/"}[how])


handler = serve(routes, public=True)


def ask(path: str, method: str = "GET", **how: Any) -> dict[str, Any]:
    return handler(event_of(path, method, **how), a_context())


def test_parts_of_a_path_are_decoded_and_shown_as_text() -> None:
    answer = ask("/things/%3Cb%3Ea")

    assert "&lt;b&gt;a" in answer["body"]
    assert "<b>a" not in answer["body"]


def test_the_more_exact_route_is_asked_first() -> None:
    assert ask("/things/shoes.atom")["body"] == "<feed>shoes</feed>"


@pytest.mark.parametrize(
    ("path", "to"), [("/things/a/", "/things/a?q=x+y"), ("//elsewhere.example/", "/elsewhere.example?q=x+y")]
)
def test_a_path_with_a_slash_at_its_end_leads_to_the_one_without_and_never_to_another_host(path: str, to: str) -> None:
    answer = ask(path, query={"q": "x y"})

    assert (answer["statusCode"], answer["multiValueHeaders"]["Location"]) == (301, [to])


@pytest.mark.parametrize("path", ["/", "/nothing", "/things", "/things/a/b", '/things/"', "/things/`.atom"])
def test_what_is_not_there_is_said_in_a_page(path: str) -> None:
    answer = ask(path)

    assert answer["statusCode"] == 404
    assert "<h1>Page not found</h1>" in answer["body"]


@pytest.mark.parametrize("path", ["/nothing", "/fails/missing"])
def test_only_where_pages_are_the_same_for_everyone_may_a_404_be_cached(path: str) -> None:
    kept = serve(routes)(event_of(path), a_context())["multiValueHeaders"]["Cache-Control"]

    assert ask(path)["multiValueHeaders"]["Cache-Control"] == [pages.PUBLIC]
    assert kept == ["no-store"]


def test_a_method_that_an_address_does_not_take_is_named() -> None:
    answer = ask("/things/a", "DELETE")

    assert answer["statusCode"] == 405
    assert answer["multiValueHeaders"]["Allow"] == ["GET, HEAD, POST"]


def test_an_address_that_can_name_nothing_is_not_there_by_any_method_that_it_takes() -> None:
    assert [ask('/things/"', method)["statusCode"] for method in ("GET", "HEAD", "POST", "DELETE")] == [404] * 3 + [405]


def test_a_page_names_nothing_by_an_id() -> None:
    for kind in OF_AN_ID:
        assert AN_ID not in ask(f"/fails/{kind.__name__}")["body"]


def test_what_is_not_possible_is_said_without_guessing_who_was_faster() -> None:
    answer = ask("/fails/DealIsOver")

    assert answer["statusCode"] == 409
    assert "<h1>That isn’t possible right now</h1>" in answer["body"]
    assert "This deal has ended or was withdrawn." in answer["body"]


@pytest.mark.parametrize(
    ("method", "headers", "opens"),
    [
        ("GET", {}, True),
        ("GET", {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}, True),
        ("HEAD", {}, False),
        ("GET", {"Sec-Purpose": "prefetch;prerender", "Sec-Fetch-Mode": "navigate"}, False),
        ("GET", {"Purpose": "prefetch"}, False),
        ("GET", {"Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}, False),
        ("GET", {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}, False),
        ("GET", {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}, False),
    ],
)
def test_only_a_reader_opens_a_page(method: str, headers: dict[str, str], opens: bool) -> None:
    request = Request(event_of("/things/a", method, headers=headers), "/things/a", {}, times.now())

    assert request.opens_page is opens


@pytest.mark.parametrize(
    ("how", "status"),
    [
        ("forged", 400), ("member", 403), ("missing", 404), ("later", 409), ("large", 413), ("wrong", 422),
        ("slow", 429), ("damaged", 500), ("unreadable", 404), ("away", 503),
    ],
)  # fmt: skip
def test_what_goes_wrong_is_said_in_the_sites_look_with_ways_on(how: str, status: int) -> None:
    answer = ask(f"/fails/{how}", headers={"Accept": "text/html"})

    document = html5lib.parse(answer["body"], namespaceHTMLElements=False)
    links = {a.get("href") for a in document.iter("a")}
    assert answer["statusCode"] == status
    assert answer["multiValueHeaders"]["Content-Type"] == [pages.HTML]
    assert len(document.findall(".//h1")) == 1
    assert document.find(".//form[@role='search']") is not None
    assert {"/", "/categories/shoes"} <= links
    assert "the table's own words" not in answer["body"]
    assert "Traceback" not in answer["body"]


def test_what_cannot_be_read_is_said_counted_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    answer = ask("/fails/unreadable")

    line = caplog.records[-1].__dict__
    assert "be read, because its data is damaged." in answer["body"]
    assert (line["damaged"], line["DamagedItems"], "Faults" in line) == (["ORDER#1"], [1], False)


def test_a_reader_gets_an_error_in_words_and_a_script_in_json() -> None:
    in_json = ask("/fails/missing", headers={"Accept": "application/json"})

    assert "There is no such deal." in ask("/fails/missing")["body"]
    assert json.loads(in_json["body"])["status"] == 404


@pytest.mark.parametrize("accept", ["text/html", "application/json"])
def test_a_fault_of_ours_is_answered_in_the_readers_form_and_counted(
    accept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = io.StringIO()
    monkeypatch.setattr(environment.logger().registered_handler, "stream", log)

    answer = ask("/breaks/what-was-typed", headers={"Accept": accept})

    of_failure, of_request = map(json.loads, log.getvalue().splitlines())
    assert (answer["statusCode"], answer["multiValueHeaders"]["Cache-Control"]) == (500, ["no-store"])
    assert answer["multiValueHeaders"]["X-Correlation-Id"] == ["request-1"]
    assert ("<h1>" in answer["body"], "request-1" in answer["body"]) == (accept == "text/html", True)
    assert (of_failure["level"], of_failure["exception_name"]) == ("ERROR", "KeyError")
    assert "breaks" in of_failure["exception"], "it says where"
    assert "what-was-typed" not in json.dumps(of_failure)
    assert (of_request["status"], of_request[metrics.FAULTS.name]) == (500, [1])


def test_when_to_try_again_is_said() -> None:
    assert ask("/fails/slow")["multiValueHeaders"]["Retry-After"] == ["60"]
    assert ask("/fails/away")["multiValueHeaders"]["Retry-After"] == ["1"]


def test_who_is_not_signed_in_is_led_there_and_back() -> None:
    answer = ask("/fails/who", query={"unread": "1"})

    assert answer["statusCode"] == 303
    assert answer["multiValueHeaders"]["Location"] == ["/account/sign-in?next=%2Ffails%2Fwho%3Funread%3D1"]


@pytest.mark.parametrize("path", ["/things/a", "/nothing", "/fails/away"])
def test_every_page_has_the_headers_that_protect_it(path: str) -> None:
    sent = ask(path)["multiValueHeaders"]

    assert pages.SECURITY_HEADERS.items() <= {name: values[0] for name, values in sent.items()}.items()
    assert "Strict-Transport-Security" not in sent


def test_over_https_browsers_must_stay_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_ORIGIN", "https://deals.example")

    assert "Strict-Transport-Security" in ask("/things/a")["multiValueHeaders"]


def test_links_have_the_prefix_that_the_site_is_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SITE_BASE", "/web")

    assert 'href="/web/brands"' in ask("/things/a")["body"]
    done = ask("/things/a", "POST")
    assert (done["statusCode"], done["multiValueHeaders"]["Location"]) == (303, ["/web/things/a?notice=saved"])


def test_a_public_answer_that_one_has_is_not_sent_again() -> None:
    etag = ask("/things/a.atom")["multiValueHeaders"]["ETag"][0]

    answer = ask("/things/a.atom", headers={"If-None-Match": etag})

    assert (answer["statusCode"], answer["body"]) == (304, "")


def test_a_public_page_is_compressed_for_who_takes_that() -> None:
    answer = ask("/nothing", headers={"Accept": "text/html", "Accept-Encoding": "br, gzip"})

    assert answer["isBase64Encoded"]
    assert answer["multiValueHeaders"]["Vary"] == ["Accept-Encoding"], "a cache would send it to everyone"
    assert b"<h1>" in gzip.decompress(base64.b64decode(answer["body"]))


def served(name: str) -> tuple[bytes, str]:
    """The content and the media type of one of the site's own files."""
    return links.asset(links.served_name(name)) or (b"", "")


def test_the_name_of_a_file_is_its_contents() -> None:
    style, media_type = served("site.css")

    assert media_type.startswith("text/css")
    assert links.served_name("barlow-condensed.woff2").encode() in style
    assert links.asset("site.css") is None


@pytest.mark.parametrize(("name", "most"), [("site.css", 8), ("site.js", 2), ("barlow-condensed.woff2", 8)])
def test_assets_keep_their_budgets(name: str, most: int) -> None:
    assert 0 < len(gzip.compress(served(name)[0], 9)) <= most * 1024


@given(st.text())
def test_whatever_is_said_stays_text(text: str) -> None:
    body = str(pages.problem_page(404, text).body)

    plain = html5lib.parse(body, namespaceHTMLElements=False)
    shown = next(element for element in plain.iter("p") if element.get("class") == "say")
    assert len(shown) == 0


def test_nothing_but_prices_and_the_unread_count_is_yellow() -> None:
    """The mark is a picture, and has the colour itself."""
    rules = served("site.css")[0].decode().split("}")

    yellow = {rule.partition("{")[0].strip() for rule in rules if "var(--tag)" in rule}

    assert yellow == {".tag", "#unread"}


def _served(*guards: Guard) -> Any:
    """A function that answers two routes, one of them by a fault."""
    made = app.create_app()

    @made.get("/broken/<name>")
    def _broken(name: str) -> Any:
        return {"known": None}[name]

    @made.get("/deals/<deal_id>")
    def _deal(deal_id: str) -> Any:
        return json_answer({"dealId": deal_id})

    return app.serve(made, *guards)


def _asked(method: str, path: str = "/deals/1") -> dict[str, Any]:
    return event("catalog-brand-page") | {"httpMethod": method, "path": path, "resource": "/deals/{dealId}"}


def test_head_is_answered_as_get_is_without_the_body() -> None:
    function = _served()
    wanted = function(_asked("GET"), a_context())

    answer = function(_asked("HEAD"), a_context())

    assert answer["body"] == ""
    assert wanted["body"] != ""
    assert (answer["statusCode"], answer["multiValueHeaders"]) == (wanted["statusCode"], wanted["multiValueHeaders"])


def _fails(asked: Event) -> None:
    raise KeyError(asked["path"])


@pytest.mark.parametrize(("path", "guards"), [("/broken/1", []), ("/deals/1", [_fails])], ids=["route", "guard"])
def test_a_fault_of_ours_is_a_problem_that_names_the_request(path: str, guards: list[Guard]) -> None:
    asked = _asked("GET", path)

    answer = _served(*guards)(asked, a_context())

    problem = json.loads(answer["body"])
    assert (answer["statusCode"], problem["status"]) == (500, 500)
    assert answer["multiValueHeaders"]["Content-Type"] == ["application/problem+json"]
    assert asked["requestContext"]["requestId"] in problem["detail"]


def test_a_path_that_holds_its_base_path_is_understood() -> None:
    answer = _served()(_asked("GET", "/v1/deals/1"), a_context())

    assert answer["statusCode"] == 200
    assert answer["body"] == '{"dealId": "1"}'


@pytest.mark.parametrize(
    ("asked", "resource", "parameters", "found"),
    [
        ("/deals", "/deals", None, "/deals"),
        ("/v1/deals", "/deals", None, "/deals"),
        ("/bargains/api/deals", "/deals", None, "/deals"),
        ("/v1/deals/", "/deals", None, "/deals/"),
        ("/v1/brands/g%2Ffore/deals", "/brands/{brand}/deals", {"brand": "g%2Ffore"}, "/brands/g%2Ffore/deals"),
        ("/v1/v1/deals", "/{proxy+}", {"proxy": "v1/deals"}, "/v1/deals"),
        ("/web/brands/allbirds", "/{proxy+}", {"proxy": "brands/allbirds"}, "/brands/allbirds"),
        ("/web/my/inbox", "/my/{proxy+}", {"proxy": "inbox"}, "/my/inbox"),
        ("/web", "/", None, "/"),
        ("/", "/", None, "/"),
    ],
)
def test_the_base_path_of_a_custom_domain_is_not_part_of_the_path(
    asked: str, resource: str, parameters: dict[str, str] | None, found: str
) -> None:
    asking: dict[str, Any] = {"path": asked, "resource": resource, "pathParameters": parameters}

    assert requests.path(asking) == found
