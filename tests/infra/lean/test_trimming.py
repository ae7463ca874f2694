"""The libraries that are cut for the functions: every call of ours works with what is left."""

from __future__ import annotations

import ast
import json
import os
import re
import ssl
import subprocess
import sys
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore import xform_name

from infra.artifacts.bundling import SERVICES, bundle, module_of
from infra.functions import FUNCTIONS, PILLOW
from infra.lean import trimming
from infra.settings import this_machine
from tests.infra.lean import calls
from tests.support.engines import FAKE_CREDENTIALS, MINISTACK

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).resolve().parents[3]
NOTHING_OF_THE_USERS = dict.fromkeys(("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"), os.devnull)
PARTITIONS = ("aws", "aws-cn", "aws-us-gov")


@pytest.fixture(scope="session")
def lean() -> Path:
    """The artifact of the functions that validate nothing."""
    return bundle("lean", this_machine(), trims=True).path


@pytest.fixture(scope="session")
def full() -> Path:
    """The artifact of the functions that validate bodies."""
    return bundle("full", this_machine(), trims=True).path


def inside(artifact: Path, source: str, **environment: str) -> Any:
    """The JSON that a program prints which has only an artifact and the standard library."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", f"import sys; sys.path.insert(0, {str(artifact)!r})\n{source}"],
        check=False,
        capture_output=True,
        text=True,
        env={
            "PATH": os.environ["PATH"],
            "AWS_DEFAULT_REGION": FAKE_CREDENTIALS["region_name"],
            "AWS_ACCESS_KEY_ID": FAKE_CREDENTIALS["aws_access_key_id"],
            "AWS_SECRET_ACCESS_KEY": FAKE_CREDENTIALS["aws_secret_access_key"],
            "NO_PROXY": "127.0.0.1",
            **NOTHING_OF_THE_USERS,
            **environment,
        },
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def called_by_functions() -> set[str]:
    """The clients' operations that are named in the modules which functions import, directly or not."""
    wanted = [module_of(row.name) for row in FUNCTIONS if row.artifact != PILLOW]
    source = f"import json, importlib\nfor name in {wanted!r}: importlib.import_module(name)\n"
    source += "print(json.dumps([name for name in sys.modules if name.startswith('shared')]))"
    modules = inside(bundle("full", this_machine(), trims=True).path, source)
    text = "".join(
        file.read_text() for name in modules if (file := (ROOT / name.replace(".", "/")).with_suffix(".py")).exists()
    )
    named = set(re.findall(r"\bself\.client\.(\w+)\b", text)) - {"close"}
    return {"create_bucket" if name == "generate_presigned_post" else name for name in named}


def test_the_operations_that_are_kept_are_those_that_functions_call() -> None:
    kept = {xform_name(operation) for operations in trimming.CALLS.values() for operation in operations}

    assert kept == called_by_functions()
    assert set(trimming.CALLS) == SERVICES


def test_every_call_works_with_what_is_left(lean: Path) -> None:
    with MINISTACK.bare_table() as table:
        endpoint = table.client.meta.endpoint_url
        source = f"import json, runpy; calls = runpy.run_path({calls.__file__!r})\n"
        source += f"print(json.dumps(calls['make_all']({table.name!r})))"

        made = inside(lean, source, AWS_ENDPOINT_URL=endpoint)

    assert {service: sorted(operations) for service, operations in made.items()} == {
        service: sorted(operations) for service, operations in trimming.CALLS.items()
    }


ADDRESSES = """
import json, sys, botocore.session
from botocore.config import Config
session = botocore.session.get_session()
found = {}
for partition in %r:
    for region in session.get_available_regions("dynamodb", partition):
        for fips in (False, True):
            for service, method in %r.items():
                client = session.create_client(service, region, config=Config(use_fips_endpoint=fips))
                found[f"{service} {region} {fips}"] = client._resolve_endpoint_ruleset(
                    client.meta.service_model.operation_model(client.meta.method_to_api_mapping[method]), {}, {}
                )[0]
print(json.dumps(found))
"""


@pytest.mark.parametrize("trims", [False, True])
def test_every_region_is_found_as_before(*, trims: bool) -> None:
    source = ADDRESSES % (PARTITIONS, {"dynamodb": "get_item", "sqs": "delete_message", "sesv2": "send_email"})
    whole = subprocess.run(
        [sys.executable, "-c", source],
        check=True,
        capture_output=True,
        text=True,
        env={
            **{name: value for name, value in os.environ.items() if not name.startswith("AWS_")},
            **NOTHING_OF_THE_USERS,
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
        },
    )

    found = inside(bundle("lean", this_machine(), trims=trims).path, source)

    assert found == json.loads(whole.stdout)
    assert len({name.split()[1] for name in found}) > 30
    assert found["dynamodb cn-north-1 False"] == "https://dynamodb.cn-north-1.amazonaws.com.cn"
    assert found["sqs us-gov-west-1 True"] == "https://sqs.us-gov-west-1.amazonaws.com"


def test_the_descriptions_hold_no_documentation_and_no_other_service(lean: Path) -> None:
    data = lean / "botocore" / "data"

    assert {folder.name for folder in data.iterdir() if folder.is_dir()} == set(trimming.CALLS)
    for service in trimming.CALLS:
        (version,) = (data / service).iterdir()
        assert {file.name for file in version.iterdir()} == {"service-2.json", "endpoint-rule-set-1.json"}
        model = json.loads((version / "service-2.json").read_text())
        whole = botocore.session.get_session().get_service_model(service)
        assert set(model["operations"]) == set(trimming.CALLS[service])
        assert set(model["operations"]) < set(whole.operation_names)
        assert "documentation" not in str({**model, "clientContextParams": None})


def test_amazons_roots_are_all_that_is_trusted(lean: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

    context.load_verify_locations(lean / "botocore" / "cacert.pem")

    names = re.findall(r"'commonName', '([^']+)'", str([root["subject"] for root in context.get_ca_certs()]))
    assert sorted(names) == [
        *(f"Amazon Root CA {number}" for number in (1, 2, 3, 4)),
        "Starfield Services Root Certificate Authority - G2",
    ]


@pytest.mark.parametrize("package", trimming.RE_EXPORTS)
def test_a_package_still_offers_what_it_offered(full: Path, package: str) -> None:
    module = package.replace("/", ".")
    source = f"import {module} as it, json; print(json.dumps([[name, repr(getattr(it, name))] for name in it.__all__]))"
    try:
        expected = __import__(module, fromlist=["__all__"]).__all__
    except AttributeError:
        expected = []
        source = f"import {module}; print('[]')"

    offered = dict(inside(full, source))

    assert list(offered) == list(expected)
    assert not [name for name, what in offered.items() if what.startswith("<module")]


@pytest.mark.parametrize("module", sorted({*trimming.POSTPONED, *trimming.ON_DEMAND, *trimming.PATTERNS}))
def test_a_module_that_was_cut_is_still_whole(full: Path, module: str) -> None:
    text = (full / module).read_text(encoding="utf-8")
    statements = {node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Import | ast.ImportFrom)}
    package = module.removesuffix("/__init__.py").removesuffix(".py").replace("/", ".")
    names = trimming.POSTPONED.get(module, ())
    late = [
        ast.unparse(node) for node in statements if any((a.asname or a.name.split(".")[0]) in names for a in node.names)
    ]
    asked = [*trimming.ON_DEMAND.get(module, ())]

    source = f"import json, {package} as it\nfor text in {late!r}: exec(text, vars(it))\n"
    source += f"for name in {asked!r}: assert getattr(it, name)\n"
    source += "for each in vars(it).copy().values(): type(each).__name__ == '_Late' and each.pattern\n"
    source += "print(json.dumps(dir(it)))"

    assert {*names, *asked} <= set(inside(full, source))


def rewritten(tmp_path: Path, source: str, rule: Callable[..., bool], *given: Collection[str]) -> dict[str, Any]:
    """The names of a module that was rewritten by a rule."""
    file, module = tmp_path / "it.py", {"__name__": "it"}
    file.write_text(source)
    trimming._rewrite(file, rule, *given)
    exec(file.read_text(), module)
    return module


JSON = ["json"]
UNLIKE: dict[str, Any] = {
    "used at the top": (trimming._postpone, "import json\nTEXT = json.dumps(1)\n", JSON),
    "used by nobody": (trimming._postpone, "import json\n", JSON),
    "not imported": (trimming._postpone, "def f():\n    return json\n", JSON),
    "used in a class": (trimming._postpone, "import json\nclass C:\n    text = json.dumps(1)\n", JSON),
    "used as a default": (trimming._postpone, "import json\ndef f(dumps=json.dumps):\n    return dumps\n", JSON),
    "exports nothing": (trimming._import_on_demand, "VALUE = 1\n", []),
    "uses what it exports": (trimming._import_on_demand, "from json import dumps\nTEXT = dumps(1)\n", []),
    "exports a module of its own": (trimming._import_on_demand, "from json import dumps\n", ["dumps"]),
    "defines no such name": (trimming._define_on_demand, "import re\n", {"json": ("json", "")}),
    "uses such a name": (trimming._define_on_demand, "VALUE = 1\nOTHER = VALUE\n", {"VALUE": ("it", "VALUE")}),
    "has no pattern": (trimming._compile_late, "VALUE = 1\n"),
    "lists no handlers": (trimming._keep_our_handlers, "BUILTIN_HANDLERS = []\n"),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_a_module_unlike_the_one_expected_fails_the_build(tmp_path: Path, case: str) -> None:
    rule, source, *given = UNLIKE[case]

    with pytest.raises(SystemExit, match="is not as expected"):
        rewritten(tmp_path, source, rule, *given)


POSTPONABLE = '''
from __future__ import annotations
import json, re
from math import pi, tau as whole

def f(x):
    """Say."""
    if x == 1:
        return re.sub("a", "b", "a")
    elif json.loads("1") == x:
        return json.dumps(x)
    else:
        def inner():
            return whole
    for i in range(2):
        y = [json.dumps(i) for _ in "ab"]
    return y, inner(), pi

class C:
    @property
    def text(self):
        try:
            return json.loads("{")
        except json.JSONDecodeError:
            return "none"
'''


def test_a_postponed_import_changes_no_result(tmp_path: Path) -> None:
    before: dict[str, Any] = {"__name__": "it"}
    exec(POSTPONABLE, before)

    after = rewritten(tmp_path, POSTPONABLE, trimming._postpone, ("json", "whole"))

    assert {"json", "whole"}.isdisjoint(after)
    assert {"re", "pi"} <= set(after)
    for one in (1, 2):
        assert after["f"](one) == before["f"](one)
    assert after["C"]().text == before["C"]().text == "none"


PATTERNS = """
import re
WORD = re.compile(r"\\w+", flags=re.ASCII)
SPACE = re.compile(r"\\s+")

def words(text):
    return [SPACE.sub("", word) for word in WORD.findall(text)]

def both(text):
    return re.split(SPACE, text)
"""


def test_a_pattern_is_compiled_at_its_first_use_where_only_its_methods_are_used(tmp_path: Path) -> None:
    module = rewritten(tmp_path, PATTERNS, trimming._compile_late)

    assert type(module["WORD"]).__name__ == "_Late"
    assert isinstance(module["SPACE"], re.Pattern)
    assert module["words"]("one, two") == ["one", "two"]
    assert module["both"]("a b") == ["a", "b"]


def test_a_bundle_of_certificates_without_amazons_fails_the_build(tmp_path: Path) -> None:
    file = tmp_path / "cacert.pem"
    file.write_text("# Subject: CN=Somebody\n-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n")

    with pytest.raises(SystemExit, match="has 0 of Amazon's five roots"):
        trimming._cut_certificates(file)
