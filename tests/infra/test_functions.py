"""The rows that functions are made of: one for each module, and each with the artifact that it needs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal

import pytest

from infra.bundling import module_of
from infra.functions import BY_NAME, FUNCTIONS, PILLOW, Caller, Function, variables
from infra.routes import ROUTES
from infra.settings import STAGES
from local.settings import ROOT
from shared.data.orders import placing
from shared.data.orders.order_items import no_message
from shared.models.orders import Charges
from tests.infra.conftest import Synthesized


def test_every_module_with_a_handler_is_a_row_and_every_row_a_module() -> None:
    modules = [
        (file.parent if file.stem == "__init__" else file).stem
        for file in (ROOT / "functions").glob("*/**/*.py")
        if re.search(r"^(def handler\(|handler\b.*=)", file.read_text(), re.MULTILINE)
    ]

    assert sorted(row.name for row in FUNCTIONS) == sorted(modules)


def test_every_route_leads_to_a_function_that_somebody_may_wait_for() -> None:
    waited_for = {row.name for row in FUNCTIONS if row.caller is Caller.GATEWAY}

    assert {route.function for route in ROUTES} <= waited_for


def test_pillow_is_only_where_pictures_are_made() -> None:
    """Which functions need pydantic and argon2, ``tests/functions/test_imports.py`` says."""
    assert [row.name for row in FUNCTIONS if row.artifact == PILLOW] == ["resizer"]


@pytest.mark.parametrize("name", ["catalog", "authorizer", "site", "clicks"])
def test_what_anyone_waits_for_loads_no_orders_and_no_messages(name: str) -> None:
    source = f"import sys, {module_of(name)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, capture_output=True, text=True)

    loaded = set(done.stdout.split())
    # Making a dataclass takes as long as loading a module: making all of them took a ninth of a start.
    assert "shared.models.catalog" in loaded
    assert not {"shared.models.orders", "shared.models.messages"} & loaded


def test_what_is_not_usual_says_why() -> None:
    with pytest.raises(ValueError, match="does not say why"):
        Function(name="slow", access=(), timeout=20)


def test_what_the_gateway_calls_starts_from_a_snapshot_of_its_newest_version(everything: Synthesized) -> None:
    aliases = {
        each["Properties"]["FunctionName"]["Ref"]: (name, each["Properties"]["FunctionVersion"])
        for name, each in everything.resources("AWS::Lambda::Alias").items()
    }
    called = json.dumps([everything.all(f"AWS::ApiGateway::{kind}") for kind in ("Method", "Authorizer")])

    for module in ("catalog", "accounts", "members", "orders", "editors", "authorizer"):
        alias, version = aliases[everything.modules()[module]]
        assert everything.function(module)["SnapStart"] == {"ApplyOn": "PublishedVersions"}
        assert version["Fn::GetAtt"][1] == "Version"
        assert f'"Ref": "{alias}"' in called, module


def test_nothing_is_published_where_snapshots_are_off(prod: Synthesized) -> None:
    assert prod.resources("AWS::Lambda::Version") == {}
    assert prod.resources("AWS::Lambda::Alias") == {}
    assert "SnapStart" not in json.dumps(prod.template)


def test_only_what_makes_orders_knows_the_terms_of_the_stage() -> None:
    stage = replace(STAGES["prod"], shipping={"USD": "4.90", "EUR": "5.00"}, tax="8.1", open_order_shards=4)

    known = {row.name: variables(row, stage, "deals") for row in FUNCTIONS}

    for term in ("SHIPPING", "TAX", "OPEN_ORDER_SHARDS"):
        assert {name for name, each in known.items() if term in each} == {"orders", "shop"}
    assert placing.Terms.of(known["shop"], no_message) == placing.Terms(
        Charges({"USD": "4.90", "EUR": "5.00"}, Decimal("8.1")), open_shards=4
    )
    assert "TAX" not in variables(BY_NAME["shop"], STAGES["prod"], "deals")
