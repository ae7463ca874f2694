"""Deploying to the local cloud with the unmodified CDK: only what changed, and only when something did."""

from __future__ import annotations

import base64
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import IO, Any

import boto3
from botocore.config import Config
from botocore.exceptions import WaiterError

from infra.bundling import digest_of, libraries
from infra.settings import STAGES
from local.settings import ACCOUNT, REGION, ROOT, STAGE, Home, Trouble, client_arguments, client_environment, short

OLDEST_NODE = 20
CDK = ROOT / "node_modules" / ".bin" / "cdk"

TIMEOUT = 1200
"""Seconds for one command of the CDK; a deployment from nothing takes ten."""

_DEPLOYED_FROM = (
    *("app.py", "cdk.json", "infra", "functions", "shared", "web", "package-lock.json"),
    *("requirements/lambda-full.txt", "requirements/lambda-lean.txt", "requirements/dev.txt"),
)


def check_node() -> None:
    """Raise Trouble where Node.js is missing, too old, or the CDK is not installed."""
    node = shutil.which("node")
    if node is None:
        raise Trouble(f"Node.js is missing: install version {OLDEST_NODE} or later; the CDK runs on it.")
    version = subprocess.run([node, "--version"], check=False, capture_output=True, text=True).stdout.strip()
    major = version.removeprefix("v").partition(".")[0]
    if not major.isdecimal() or int(major) < OLDEST_NODE:
        raise Trouble(f"Node.js is {version or 'of an unknown version'}: the CDK needs {OLDEST_NODE} or later.")
    if not CDK.exists():
        raise Trouble("The CDK is not installed: run make install.")


def wanted(port: int) -> str:
    """The digest of everything that a deployment is made from, with the port, which is part of the site's address."""
    return f"{digest_of(*_DEPLOYED_FROM)} {STAGES[STAGE].target} {origin(port)}"


def origin(port: int) -> str:
    """How browsers know the site: its domain on this machine, and the cloud's port."""
    domain = STAGES[STAGE].domain
    assert domain is not None  # noqa: S101  # the stage of the local cloud has one
    return f"http://{domain.name}:{port}"


def outputs(home: Home, digest: str) -> dict[str, str] | None:
    """The outputs of the last deployment if it was of this digest."""
    try:
        record = json.loads(home.deployed.read_text())
    except (FileNotFoundError, ValueError):
        return None
    return dict(record["outputs"]) if record.get("digest") == digest else None


def bootstrap(home: Home, port: int) -> None:
    """Prepare the cloud for the CDK, with the CDK's own template except for a bucket policy. Raises Trouble.

    The policy refuses requests without TLS, and this cloud has no TLS.
    """
    with home.bootstrap.open("wb") as file:
        _run(home, port, "bootstrap", "--show-template", "--json", "--app", "", output=file)
    template = json.loads(home.bootstrap.read_text())
    del template["Resources"]["StagingBucketPolicy"]
    home.bootstrap.write_text(json.dumps(template))
    given = ("--app", "", "--template", str(home.bootstrap), "--ci", "--output", str(home.folder / "cdk.out"))
    _run(home, port, "bootstrap", f"aws://{ACCOUNT}/{REGION}", *given)


def deploy(home: Home, port: int, digest: str, *, app: Path | None = None) -> dict[str, str]:
    """Deploy the stacks of ``cdk.json``'s app, or of a synthesized one, and return their outputs. Raises Trouble."""
    libraries("lambda-runtime")  # fetched now, so that make invoke needs no network
    file = home.folder / "outputs.json"
    file.unlink(missing_ok=True)
    end_rollback(home, port)
    _run(
        home,
        port,
        *("deploy", "--all", "--require-approval", "never", "--context", f"stage={STAGE}"),
        "--no-staging",  # what is zipped needs no copy first
        *(("--app", str(app)) if app else ()),
        *("--context", f"origin={origin(port)}", "--method", "direct"),
        *("--output", str(home.folder / "cdk.out"), "--outputs-file", str(file), "--progress", "events", "--ci"),
    )
    found = {name: value for stack in json.loads(file.read_text()).values() for name, value in stack.items()}
    home.deployed.write_text(json.dumps({"digest": digest, "outputs": found}, indent=2))
    return found


def functions(home: Home, port: int) -> dict[str, Any]:
    """The deployed functions by their services' names, as Lambda's API describes them."""
    pages = boto3.client("lambda", **client_arguments(home, port)).get_paginator("list_functions").paginate()
    return {
        function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]: function
        for page in pages
        for function in page["Functions"]
        if "Environment" in function
    }


def invoke(home: Home, port: int, function: str, event: bytes) -> tuple[bytes, bool, str]:
    """A deployed function's answer, whether it failed, and the last 4 KB of its log."""
    client = boto3.client("lambda", **client_arguments(home, port), config=Config(read_timeout=900))
    answer = client.invoke(FunctionName=function, Payload=event, LogType="Tail")
    log = base64.b64decode(answer.get("LogResult", "")).decode(errors="replace")
    return answer["Payload"].read(), "FunctionError" in answer, log


def end_rollback(home: Home, port: int) -> None:
    """Let a stack be updated whose last update failed and could not be taken back (UPDATE_ROLLBACK_FAILED).

    CloudFormation refuses updates of it until the rollback is continued, and may leave out the resources that it could
    not bring back: the update that follows sets these. Everything else, the table with its data above all, stays.
    https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-continueupdaterollback.html
    """
    client = boto3.client("cloudformation", **client_arguments(home, port))
    stacks = client.describe_stacks()["Stacks"]
    for stack in stacks:
        if stack["StackStatus"] == "UPDATE_ROLLBACK_FAILED":
            listed = re.findall(r"\[(.*?)\]", stack["StackStatusReason"])
            stuck = [name.strip() for names in listed for name in names.split(",")]
            print(f"The last update failed half-way: going on without {', '.join(stuck)} ...", flush=True)
            client.continue_update_rollback(StackName=stack["StackName"], ResourcesToSkip=stuck)
            try:
                client.get_waiter("stack_rollback_complete").wait(
                    StackName=stack["StackName"], WaiterConfig={"Delay": 1, "MaxAttempts": 60}
                )
            except WaiterError as error:
                raise Trouble(f"The last update of {stack['StackName']} cannot be taken back: {error}") from error


def _run(home: Home, port: int, *arguments: str, output: IO[bytes] | None = None) -> None:
    """Run a command of the CDK; what it prints goes to the log, or to the file ``output``."""
    command = [str(CDK), *arguments, "--no-notices"]
    with home.deploy_log.open("ab") as log:
        log.write(f"$ cdk {' '.join(arguments)}\n".encode())
        log.flush()
        try:
            done = subprocess.run(
                command,
                check=False,
                cwd=ROOT,
                env=client_environment(home, port),
                stdin=subprocess.DEVNULL,
                stdout=output or log,
                stderr=log,
                timeout=TIMEOUT,
            )
        except subprocess.TimeoutExpired as error:
            raise Trouble(f"cdk {arguments[0]} takes longer than {TIMEOUT} s; see {short(home.deploy_log)}.") from error
    if done.returncode:
        lines = home.deploy_log.read_text(errors="replace").splitlines()
        errors = [line.strip() for line in lines if "❌" in line or "rror:" in line or line.startswith("Cannot ")]
        raise Trouble(" ".join((f"cdk {arguments[0]} failed; see {short(home.deploy_log)}.", *errors[-1:])))
