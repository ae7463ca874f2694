"""SnapStart, a setting of the stage: what somebody waits for is called by the version that a snapshot is of."""

from __future__ import annotations

import json

import pytest

from tests.infra.conftest import Synthesized

AWAITED = ("catalog", "accounts", "members", "orders", "editors", "authorizer")


@pytest.mark.parametrize("module", AWAITED)
def test_what_the_gateway_calls_starts_from_a_snapshot_of_its_newest_version(
    everything: Synthesized, module: str
) -> None:
    aliases = everything.resources("AWS::Lambda::Alias")
    (alias,) = (
        name
        for name, each in aliases.items()
        if everything.template["Resources"][each["Properties"]["FunctionName"]["Ref"]] == everything.function(module)
    )
    called = json.dumps([*everything.resources("AWS::ApiGateway::Method").values()])
    called += json.dumps([*everything.resources("AWS::ApiGateway::Authorizer").values()])

    assert everything.function(module)["Properties"]["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    assert aliases[alias]["Properties"]["FunctionVersion"]["Fn::GetAtt"][1] == "Version"
    assert f'"Ref": "{alias}"' in called


def test_nothing_is_published_where_it_is_off(prod: Synthesized) -> None:
    assert prod.resources("AWS::Lambda::Version") == {}
    assert prod.resources("AWS::Lambda::Alias") == {}
    assert "SnapStart" not in json.dumps(prod.template)
