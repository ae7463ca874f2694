"""``python -m local up|down|reset|status|env``: the commands behind ``make run``, ``make stop``, ``make reset`` etc."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import sys
import time
import urllib.request
from contextlib import suppress

from local import cloud
from local.settings import REGION, Home, Trouble, access_key, client_arguments, endpoint, wanted_port
from shared import features, hooks
from shared.api.app import ROOT
from shared.errors import DealsError
from shared.values import times

YES = {"1", "yes", "true"}


def main() -> int:
    """Run one command; a Trouble is one line on standard error and exit code 1."""
    parser = argparse.ArgumentParser(prog="python -m local", description="The local cloud of Big Time Deals")
    parser.add_argument("command", choices=["up", "down", "reset", "status", "env"])
    command = {"up": up, "down": down, "reset": reset, "status": status, "env": env}[parser.parse_args().command]
    home = Home()
    try:
        if command in (status, env):
            return command(home)
        with cloud.alone(home):
            return command(home)
    except Trouble as trouble:
        print(trouble, file=sys.stderr)
    except DealsError as error:
        print(f"The local table refuses: {error}", file=sys.stderr)
    except KeyboardInterrupt:
        print("Interrupted. Run make run again to continue.", file=sys.stderr)
    return 1


def up(home: Home) -> int:
    """Start the cloud, deploy what changed, and say how to use it."""
    started = time.monotonic()
    port = wanted_port(last=cloud.last_port(home))
    cloud.check_node()
    there, orderly = cloud.start(home, port)
    if not orderly:
        print("The last cloud was not stopped in order: what came after its last orderly stop is gone.")
        home.deployed.unlink(missing_ok=True)
        home.sample.unlink(missing_ok=True)
    digest = cloud.digest_of_sources(port)
    outputs = cloud.outputs_of(home, digest)
    if outputs is None or not _answers(_plain_address(port, outputs["ApiId"])):
        if not (home.deployed.exists() and home.bootstrap.exists()):
            home.deploy_log.unlink(missing_ok=True)
            print("Preparing the cloud (cdk bootstrap) ...", flush=True)
            cloud.bootstrap(home, port)
        print("Deploying (cdk deploy) ...", flush=True)
        outputs = cloud.deploy(home, port, digest)
    _print_summary(home, there, outputs, time.monotonic() - started, empty=os.environ.get("EMPTY", "").lower() in YES)
    return 0


def down(home: Home) -> int:
    """Let the functions finish their work, then stop the cloud, which saves its state."""
    left = cloud.drain(home)
    if left:
        rest = cloud.in_words(left)
        print(f"Not everything was done in {cloud.DRAIN_TIMEOUT:.0f} s: {rest}. Records are lost, messages are kept.")
    print("The local cloud has stopped; its data is kept." if cloud.stop(home) else "The local cloud was not running.")
    return 0


def reset(home: Home) -> int:
    """Stop the cloud and delete everything it held."""
    cloud.kill(home)
    shutil.rmtree(home.folder, ignore_errors=True)
    print("The local cloud is empty; make run starts over.")
    return 0


def status(home: Home) -> int:
    """Say whether the cloud runs, and which work is left; exit code 1 if it doesn't run."""
    there = cloud.running(home)
    if there is None:
        raise Trouble("The local cloud is not running: make run starts it.")
    print(f"The local cloud runs on port {there.port} (process {there.pid}).")
    left: dict[str, int] = {}
    with suppress(OSError, ValueError):  # it doesn't answer while it starts
        left = cloud.waiting(home, there)
    if cloud.in_words(left):
        print(f"Functions still have {cloud.in_words(left)}: until then search, pages and messages lag behind.")
    if left.get(cloud.DEAD):
        print(f"Given up, in dead-letter queues: {left[cloud.DEAD]:,}. docs/failures.md says how to send it again.")
    return 0


def env(home: Home) -> int:
    """Print the variables with which a shell's AWS tools use the cloud: ``eval "$(make env)"``."""
    there = cloud.running(home)
    if there is None or not home.cloud.exists():
        raise Trouble("The local cloud is not running: make run starts it.")
    key = access_key(home)
    variables = {
        "AWS_ENDPOINT_URL": endpoint(there.port),
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": key.key_id,
        "AWS_SECRET_ACCESS_KEY": key.secret,
        "TABLE_NAME": json.loads(home.cloud.read_text(encoding="utf-8"))["table"],
    }
    print("unset AWS_PROFILE AWS_SESSION_TOKEN")
    for name, value in variables.items():
        print(f"export {name}={shlex.quote(value)}")
    return 0


def _plain_address(port: int, api_id: str) -> str:
    """The API's address for tools that don't resolve ``*.localhost``, unlike curl and browsers."""
    return f"{endpoint(port)}/_aws/execute-api/{api_id}{ROOT}"


def _answers(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{address}/categories", timeout=20):  # noqa: S310  # ours
        return True
    return False


def _print_summary(home: Home, there: cloud.Cloud, outputs: dict[str, str], seconds: float, *, empty: bool) -> None:
    # Imported late: boto3 takes a third of a second, which stop and status don't need.
    from local import sample  # noqa: PLC0415
    from local.sample import ensure_account  # noqa: PLC0415
    from shared.dynamodb import client  # noqa: PLC0415
    from shared.dynamodb.client import connect  # noqa: PLC0415

    reached = client_arguments(home, there.port)
    table = connect(outputs["TableName"], **reached)
    client.enable_ttl(table.client, table.name)  # MiniStack's CloudFormation doesn't enable it
    editor = ensure_account(home.editor, table, "editor")
    member = ensure_account(home.member, table, "member")
    api = f"http://{outputs['ApiId']}.execute-api.localhost:{there.port}{ROOT}"
    plain = _plain_address(there.port, outputs["ApiId"])
    known = {name[0].lower() + name[1:]: text for name, text in outputs.items()}
    known |= {"endpoint": endpoint(there.port), "region": REGION, "apiUrl": api, "plainApiUrl": plain}
    home.cloud.write_text(json.dumps({"table": table.name, **known}, indent=2))
    if not empty and not home.sample.exists():
        print("Bringing in the sample deals ...", flush=True)
        planted = sample.plant(
            table, times.now(), member.username, lambda output, connect: connect(outputs[output], **reached)
        )
        home.sample.write_text(json.dumps({"deals": planted}))
    links = "\n".join(
        f"  {name:<8} {outputs['SiteUrl']}{path}  ({remark})"
        for of in features.roles(hooks.Local)
        for name, path, remark in of.LINKS
    )
    print(
        f"""
Big Time Deals is up ({seconds:.0f} s).

  Editor   {editor.username} / {editor.password}
  Member   {member.username} / {member.password}
  API      {api}
           {plain}  (where *.localhost does not resolve)
  To try   {api}/docs
{links}
  Stop     make stop  (keeps the data)

Open  {outputs["SiteUrl"]}"""
    )


if __name__ == "__main__":
    sys.exit(main())
