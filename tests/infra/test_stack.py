"""The stack: table, queues, clock, functions; the settings of stages, locks, and what artifacts hold."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import aws_cdk as cdk
import botocore
import pytest

from infra.bundling import SERVICES, bundle, compiler, module_of, tree_digest
from infra.functions import FUNCTIONS, ROUTES
from infra.rows import Caller, Function
from infra.settings import STAGES
from infra.stacks import compose
from infra.stage import ON_LAMBDA, Domain, Option, RestoredTable, Stage, this_machine
from local.settings import ROOT
from shared import features, hooks
from shared.dynamodb.schema import TTL_ATTRIBUTE, create_table_request
from tests.infra.conftest import UNCOPIED, VARIANTS, Assembly, Synthesized, synthesize
from tests.invoke.conftest import INTERPRETER, RUNTIME
from tests.support.cases import cases
from tools.invoke import unpack


def test_the_seeds_are_planted_again_when_they_change(dev: Synthesized, prod: Synthesized) -> None:
    stated = dev.only("Custom::SeedCategories")["Seeds"]

    # The same sources give the same property, so a deployment without changes plants nothing.
    assert re.fullmatch(r"[0-9a-f]{32}", stated)
    assert prod.only("Custom::SeedCategories")["Seeds"] == stated


def test_seeding_waits_for_the_right_to_seed(dev: Synthesized) -> None:
    role = dev.function("seed")["Role"]["Fn::GetAtt"][0]
    (seeds,) = dev.resources("Custom::SeedCategories").values()

    assert role in seeds["DependsOn"]


def test_the_outputs_name_the_api_and_the_table(dev: Synthesized) -> None:
    assert {"ApiUrl", "ApiId", "TableName"} <= set(dev.template["Outputs"])


KEPT = (
    "DealsTableB8315DDB",
    "WorkQueue1CAC4D2F",
    "WorkDeadLettersQueueD9831E5E",
    "PublishedDeadLettersQueueC7DB9BD4",
    "RefreshedDeadLettersQueueB85CECFF",
    "GatewayApi4EDF2151",
    "PagesApi998C29E9",
    *cases("KEPT"),
)
"""What holds data or an address, by its logical id in 1.1.0."""


def test_an_upgrade_makes_nothing_anew_that_holds_data_or_an_address(everything: Synthesized) -> None:
    """Under another logical id CloudFormation would make it empty, and leave the old one to nobody."""
    assert [name for name in KEPT if name not in everything.template["Resources"]] == []


def test_no_template_fixes_a_name_that_would_stop_a_second_deployment(dev: Synthesized) -> None:
    assert not [table for table in dev.all("AWS::DynamoDB::Table") if "TableName" in table]
    assert not [function for function in dev.all("AWS::Lambda::Function") if "FunctionName" in function]


@pytest.mark.parametrize("stage", ["dev", "prod", "everything"])
def test_every_log_forgets(request: pytest.FixtureRequest, stage: str) -> None:
    synthesized: Synthesized = request.getfixturevalue(stage)

    kept = {each["RetentionInDays"] for each in synthesized.all("AWS::Logs::LogGroup")}

    assert kept == {VARIANTS[stage].log_retention_days}


def test_queues_are_encrypted_and_refuse_requests_without_tls(dev: Synthesized) -> None:
    queues = dev.resources("AWS::SQS::Queue")
    refused = {
        queue["Ref"]
        for policy in dev.all("AWS::SQS::QueuePolicy")
        for queue in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
        if (statement["Effect"], statement["Action"], statement["Principal"]) == ("Deny", "sqs:*", {"AWS": "*"})
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }

    assert refused == set(queues)
    assert all(queue["Properties"]["SqsManagedSseEnabled"] is True for queue in queues.values())


def test_the_clock_invokes_its_functions_each_minute_and_repeats_none_that_failed(dev: Synthesized) -> None:
    rule = dev.only("AWS::Events::Rule")
    invoked = dev.all("AWS::Lambda::EventInvokeConfig")

    targets = {dev.module(each["Arn"]["Fn::GetAtt"][0]) for each in rule["Targets"]}
    assert targets == {"expiry", "refresher", "remover"}
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert len(invoked) == len(targets)
    assert {each["MaximumRetryAttempts"] for each in invoked} == {0}
    assert {each["RetryPolicy"]["MaximumRetryAttempts"] for each in rule["Targets"]} == {0}


def test_only_a_stage_that_says_so_is_traced(prod: Synthesized, everything: Synthesized) -> None:
    def traced(stage: Synthesized) -> set[bool]:
        modes = {"TracingConfig" in each for each in stage.all("AWS::Lambda::Function") if "Handler" in each}
        return modes | {each["TracingEnabled"] for each in stage.all("AWS::ApiGateway::Stage")}

    assert traced(prod) == {False}
    assert traced(everything) == {True}


@pytest.mark.parametrize(
    ("variant", "protected"), [("dev", False), ("local", False), ("prod", True), ("everything", True)]
)
def test_a_stack_with_data_that_matters_cannot_be_deleted(
    assemblies: Callable[[str], Assembly], variant: str, *, protected: bool
) -> None:
    stack = assemblies(variant).app.node.find_child(VARIANTS[variant].stack_name)

    assert isinstance(stack, cdk.Stack)
    assert stack.termination_protection is protected


def test_a_first_deployment_that_fails_leaves_nothing_that_its_repetition_meets() -> None:
    """CloudFormation deletes what it has made, and the CDK deletes the stack when it is deployed again."""
    stage = replace(STAGES["prod"], first=True, options=(*cases("WATCHED"),))
    app = cdk.App(context=UNCOPIED, builtin_cloud_formation_validation=False)
    compose(app, stage)

    template = app.synth().get_stack_by_name(stage.stack_name)

    assert template.termination_protection is not True
    resources = template.template["Resources"].values()
    (table,) = (each for each in resources if each["Type"] == "AWS::DynamoDB::Table")
    assert table["Properties"].get("DeletionProtectionEnabled", False) is False
    # The role that writes the logs of all APIs is the account's, and the next deployment makes its own.
    assert {each["Type"] for each in resources if each.get("DeletionPolicy") == "Retain"} <= ACCOUNTS_OWN
    kinds = {each["Type"] for each in resources if each.get("DeletionPolicy") == "RetainExceptOnCreate"}
    assert {"AWS::DynamoDB::Table", "AWS::Logs::LogGroup"} <= kinds
    assert kinds <= {"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::Logs::LogGroup"}


ACCOUNTS_OWN = {"AWS::ApiGateway::Account", "AWS::IAM::Role"}


def test_the_table_has_the_keys_indexes_and_stream_of_the_schema(dev: Synthesized) -> None:
    declared = create_table_request("any")

    table = dev.only("AWS::DynamoDB::Table", "Deals")

    assert table["KeySchema"] == declared["KeySchema"]
    assert table["GlobalSecondaryIndexes"] == declared["GlobalSecondaryIndexes"]
    assert _by_name(table["AttributeDefinitions"]) == _by_name(declared["AttributeDefinitions"])
    assert table["BillingMode"] == declared["BillingMode"]
    assert table["StreamSpecification"]["StreamViewType"] == "NEW_AND_OLD_IMAGES"


def test_items_expire_and_can_be_restored_on_every_stage(dev: Synthesized, prod: Synthesized) -> None:
    for stage in (dev, prod):
        table = stage.only("AWS::DynamoDB::Table", "Deals")

        assert table["TimeToLiveSpecification"] == {"AttributeName": TTL_ATTRIBUTE, "Enabled": True}
        assert table["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"] is True


def test_production_data_outlives_its_stack_and_development_data_does_not(dev: Synthesized, prod: Synthesized) -> None:
    (kept,), (dropped,) = (stage.resources("AWS::DynamoDB::Table", "Deals").values() for stage in (prod, dev))

    assert kept["Properties"]["DeletionProtectionEnabled"] is True
    assert (kept["DeletionPolicy"], kept["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")
    assert dropped["Properties"].get("DeletionProtectionEnabled", False) is False
    assert dropped["DeletionPolicy"] == "Delete"


def test_a_restored_table_takes_the_place_of_the_stacks_own() -> None:
    stream = "arn:aws:dynamodb:eu-central-1:111122223333:table/restored/stream/2026-06-12T15:00:00.000"
    stage = synthesize(replace(STAGES["prod"], restored=RestoredTable("restored", stream)))

    # The one that leaves the template stays, as the test above says.
    assert stage.resources("AWS::DynamoDB::Table") == {}
    used = {stage.variables(module).get("TABLE_NAME", "restored") for module in stage.modules()}
    assert used == {stage.template["Outputs"]["TableName"]["Value"]} == {"restored"}
    mappings = stage.all("AWS::Lambda::EventSourceMapping")
    read = {each["EventSourceArn"] for each in mappings if "FilterCriteria" in each}
    assert read == {stream}
    allowed = json.dumps(stage.of_roles())
    assert ":table/restored/index/GSI1" in allowed
    assert stream in allowed


def test_a_stage_on_standby_does_nothing_by_itself() -> None:
    stream = "arn:aws:dynamodb:eu-west-1:111122223333:table/replica/stream/2026-06-12T15:00:00.000"
    waits = replace(
        STAGES["prod"], standby=True, restored=RestoredTable("replica", stream), options=(*cases("OPTIONS"),)
    )
    stage = synthesize(replace(waits, region="eu-west-1"))

    mappings = stage.all("AWS::Lambda::EventSourceMapping")
    assert {each["Enabled"] for each in mappings if each["EventSourceArn"] == stream} == {False}
    assert {each["State"] for kind in CLOCKS for each in stage.all(kind)} == {"DISABLED"}
    # Work that a reader of its pages begins is done.
    assert all(each.get("Enabled", True) for each in mappings if each["EventSourceArn"] != stream)


CLOCKS = ("AWS::Events::Rule", "AWS::Scheduler::Schedule")


def _by_name(definitions: object) -> list[dict[str, str]]:
    assert isinstance(definitions, list)
    return sorted(definitions, key=lambda each: str(each["AttributeName"]))


def test_every_module_with_a_handler_is_a_row_or_a_page_of_the_demo_and_every_row_a_module() -> None:
    modules = [
        ".".join((file.parent if file.stem == "__init__" else file.with_suffix("")).relative_to(ROOT).parts)
        for file in (*ROOT.glob("functions/*/**/*.py"), *ROOT.glob("features/*/*.py"))
        if re.search(r"^(def handler\(|handler\b.*=)", file.read_text(), re.MULTILINE)
    ]

    of_demo = [module for each in features.roles(hooks.Demo) for module in each.PAGES.values()]
    assert sorted([*(module_of(row.name) for row in FUNCTIONS), *of_demo]) == sorted(modules)


def test_every_route_leads_to_a_function_that_a_caller_may_wait_for() -> None:
    waited_for = {row.name for row in FUNCTIONS if row.caller is Caller.GATEWAY}

    assert {route.function for route in ROUTES} <= waited_for


@pytest.mark.parametrize("name", ["catalog", "authorizer", "site", *cases("PUBLIC_FUNCTIONS")])
def test_what_anyone_waits_for_loads_no_messages(name: str) -> None:
    source = f"import sys, {module_of(name)}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, capture_output=True, text=True)

    loaded = set(done.stdout.split())
    # Making a dataclass takes as long as loading a module: making all of them took a ninth of a start.
    assert "shared.models.catalog" in loaded
    assert not {"shared.models.messages", *cases("NOT_LOADED")} & loaded


def test_what_is_not_usual_says_why() -> None:
    with pytest.raises(ValueError, match="does not say why"):
        Function(name="slow", access=(), timeout=20)


def test_what_the_gateway_calls_starts_from_a_snapshot_of_its_newest_version(everything: Synthesized) -> None:
    aliases = {
        each["Properties"]["FunctionName"]["Ref"]: (name, each["Properties"]["FunctionVersion"])
        for name, each in everything.resources("AWS::Lambda::Alias").items()
    }
    called = json.dumps([everything.all(f"AWS::ApiGateway::{kind}") for kind in ("Method", "Authorizer")])

    for module in ("catalog", "accounts", "members", "editors", "authorizer"):
        alias, version = aliases[everything.modules()[module]]
        assert everything.function(module)["SnapStart"] == {"ApplyOn": "PublishedVersions"}
        assert version["Fn::GetAtt"][1] == "Version"
        assert f'"Ref": "{alias}"' in called, module


def test_nothing_is_published_where_snapshots_are_off(prod: Synthesized) -> None:
    assert prod.resources("AWS::Lambda::Version") == {}
    assert prod.resources("AWS::Lambda::Alias") == {}
    assert "SnapStart" not in json.dumps(prod.template)


DEV = STAGES["dev"]
CERTIFICATE = "arn:aws:acm:us-east-1:111122223333:certificate/1"
BOTH = ("*", "https://app.example")


def test_a_new_account_has_room_for_readers_beside_the_workers(dev: Synthesized, prod: Synthesized) -> None:
    """It may run ten functions at once: docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""
    told = (ROOT / "docs" / "deploying.md").read_text()
    for stage in (dev, prod):
        sources = stage.all("AWS::Lambda::EventSourceMapping")
        workers = [each["ScalingConfig"]["MaximumConcurrency"] for each in sources if "ScalingConfig" in each]
        by_the_clock = len(stage.only("AWS::Events::Rule")["Targets"])
        at_once = sum(workers) + len(sources) - len(workers) + by_the_clock

        assert by_the_clock == sum(each.each_minute for each in FUNCTIONS)
        assert {*workers} == {2}  # Lambda's least, for cohorts and for each queue of a feature
        assert at_once < 10
        of_core = at_once - sum(workers[1:])
        assert f"the clock's {by_the_clock} functions may be at work at once: {of_core} in all" in told


def test_every_setting_of_a_stage_is_documented_those_of_features_too() -> None:
    folders = {type(each): type(each).__module__.split(".")[1] for each in VARIANTS["everything"].options}
    told: dict[type[Any], str] = {Stage: (ROOT / "docs" / "deploying.md").read_text()}
    told |= {kind: (ROOT / "features" / folder / "README.md").read_text() for kind, folder in folders.items()}

    assert not [each.name for kind, text in told.items() for each in fields(kind) if f"`{each.name}`" not in text]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        *(
            (lambda origin=origin: replace(DEV, cors_origins=(origin,)), "origin")
            for origin in ("https://app.example/", "app.example", "https://App.example", "https://a b", "null")
        ),
        (lambda: replace(DEV, cors_origins=BOTH), "origin"),
        (lambda: replace(DEV, standby=True), "standby needs restored"),
        (lambda: replace(DEV, options=(Option(), Option())), "one of a kind"),
        (lambda: replace(DEV, workers=1), "workers must be at least 2"),
        (lambda: replace(DEV, log_retention_days=8), "one of 1, 7, 30, 90, and not 8"),
        # Metrics are lines of INFO.
        (lambda: replace(DEV, log_level="WARNING"), "DEBUG or INFO"),
        (lambda: replace(DEV, name="dev 2"), "letters, digits and hyphens"),
        (lambda: replace(DEV, site_origin="deals.example"), "a scheme and a host"),
        (lambda: replace(DEV, domain=Domain("https://deals.example", "arn")), "must be a host's"),
        (lambda: replace(DEV, region="eu-west-1", domain=Domain("deals.example", CERTIFICATE)), "region, eu-west-1"),
    ],
)
def test_a_setting_that_cannot_be_meant_is_refused(wrong: Callable[[], object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        wrong()


def test_all_origins_may_be_let_in_at_once() -> None:
    assert replace(DEV, cors_origins=("*",)).cors_origins == ("*",)


LOCKS = sorted((ROOT / "requirements").glob("*.txt"))
BOTOCORE = "1.43.106"
"""MiniStack pins botocore, and what is tested here must be what runs in Lambda."""


def _pins(lock: Path) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9.-]+)(?:\[[a-z,]+\])?==(\S+)", lock.read_text(), re.MULTILINE))


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_registry_and_hashes_everything(lock: Path) -> None:
    text = lock.read_text()

    assert "://" not in text
    assert not re.search(r"^\s*-{1,2}(index|extra|find|i\b|f\b)", text, re.MULTILINE)
    for name in _pins(lock):
        assert re.search(rf"^{re.escape(name)}(\[.*\])?==.*\n\s+--hash=sha256:", text, re.MULTILINE), name


def test_lambda_runs_the_versions_that_are_tested() -> None:
    everything = _pins(ROOT / "requirements" / "dev.txt")

    for lock in LOCKS:
        if lock.name in ("lambda-lean.txt", "lambda-full.txt", "installer.txt"):  # the others are environments apart
            assert _pins(lock).items() <= everything.items(), lock.name
    assert everything["boto3"] == everything["botocore"] == BOTOCORE


def test_the_node_lock_names_no_registry() -> None:
    lock = json.loads((ROOT / "package-lock.json").read_text())

    for name, package in lock["packages"].items():
        assert "resolved" not in package, name
        assert not name or package["integrity"].startswith("sha512-"), name


IMPORTS = """
import importlib, os, sys
sys.path.insert(0, sys.argv[1])
import botocore.session, aws_lambda_powertools.event_handler
failed = 0
for module in sys.argv[2:]:
    if not os.fork():
        importlib.import_module(module)
        os._exit(0)
    failed |= os.wait()[1]
sys.exit(bool(failed))
"""
"""Each handler is imported by a fork of its own; what all of them import is there before, which saves time."""

LAMBDAS = f"cpython-{ON_LAMBDA.python.replace('.', '')}"
"""The part of a file's name that says for which Python it was compiled."""

PUBLISHED = ("botocore", "aws_lambda_powertools", "pydantic")


@pytest.mark.thorough
def test_two_builds_from_nothing_are_the_same(tmp_path: Path) -> None:
    first = bundle("full", this_machine(), tmp_path / "first")
    second = bundle("full", this_machine(), tmp_path / "second")

    assert first.digest == second.digest == tree_digest(second.path)


def test_a_second_build_only_finds_the_first() -> None:
    first = bundle("lean", this_machine())
    marker = first.path.with_name(f"{first.path.name}.digest")
    before = marker.stat().st_mtime_ns

    again = bundle("lean", this_machine())

    assert again == first
    assert marker.stat().st_mtime_ns == before


def test_an_artifact_for_another_machine_holds_only_what_runs_there() -> None:
    artifact = bundle("full", ON_LAMBDA)

    native = [file.name for file in artifact.path.rglob("*.so")]

    assert native
    assert all("aarch64" in name or ".abi3." in name for name in native)
    assert not any("cpython-" in name and LAMBDAS not in name for name in native)
    for file in artifact.path.rglob("*.so"):
        machine = int.from_bytes(file.read_bytes()[18:20], "little")
        assert machine == 0xB7, file.name  # EM_AARCH64 of the ELF header


def test_byte_code_for_another_python_is_that_pythons_or_left_out() -> None:
    codes = list(bundle("lean", ON_LAMBDA).path.rglob("*.pyc"))

    assert bool(codes) == (compiler(ON_LAMBDA.python) is not None)
    assert all(f".{LAMBDAS}." in code.name for code in codes)


def test_an_interpreter_is_believed_only_for_what_it_says_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "python3.97").symlink_to(sys.executable)
    (tmp_path / "python3.98").write_text("#!/bin/sh\necho '3.98.0 (a shim)'; exit 127\n")
    (tmp_path / "python3.98").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert compiler(this_machine().python) == sys.executable
    assert compiler(platform.python_version()) is not None  # uv has to find it
    assert [compiler(version) for version in ("3.97", "3.98")] == [None, None]


def test_byte_code_is_valid_after_zip_and_unzip(tmp_path: Path) -> None:
    unpacked = unpack(bundle("lean", this_machine()).path, tmp_path / "unpacked")

    codes = list(unpacked.rglob("*.pyc"))

    assert {code.parent.parent for code in codes} >= {
        unpacked / "functions",
        unpacked / "shared",
        unpacked / "botocore",
    }
    for code in codes:
        # PEP 552: bit 0 means a hash instead of a time, bit 1 that the hash is to be checked.
        assert int.from_bytes(code.read_bytes()[4:8], "little") == 0b01, code


@pytest.mark.parametrize("artifact", sorted({row.artifact for row in FUNCTIONS}))
def test_each_handler_imports_from_its_artifact_alone_on_lambdas_python(artifact: str) -> None:
    """The local cloud runs functions where the whole working copy's libraries are at hand; Lambda does not."""
    modules = [module_of(row.name) for row in FUNCTIONS if row.artifact == artifact]

    done = subprocess.run(
        [str(INTERPRETER), "-I", "-S", "-B", "-c", IMPORTS, str(bundle(artifact, RUNTIME).path), *modules],
        check=False,
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "POWERTOOLS_SERVICE_NAME": artifact},
    )

    assert done.returncode == 0, done.stderr


def test_only_our_own_runtime_sources_go_in() -> None:
    code = bundle("lean", this_machine()).path

    assert (code / "functions" / "api" / "openapi.json").exists()
    assert not {"infra", "local", "cli", "tests", "aws_cdk", "ministack", "pydantic"} & {
        entry.name for entry in code.iterdir()
    }


def test_libraries_are_as_published_except_for_descriptions_of_services_that_are_never_called() -> None:
    code = bundle("full", this_machine()).path
    installed = Path(botocore.__file__).parents[1]

    published = {file.relative_to(code): file for folder in PUBLISHED for file in (code / folder).rglob("*.py")}

    assert {folder.name for folder in (code / "botocore" / "data").iterdir() if folder.is_dir()} == SERVICES
    assert len(published) > 200
    assert [name for name, file in published.items() if file.read_bytes() != (installed / name).read_bytes()] == []
