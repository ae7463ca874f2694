"""``btd probe``: prove a design's assumptions on a deployed stage; ``docs/ledger.md`` has the claims.

Each proof has limits of time and requests, and removes what it made. Together they take at most fifteen minutes.
"""

from __future__ import annotations

import os
import re
import secrets
from functools import cache
from typing import Annotated, Any

import boto3
import typer
from botocore.exceptions import BotoCoreError, ClientError

from cli.commands import AsJson, NoTable, local_cloud
from cli.output import note, show_json, show_rows
from cli.proofs import Deployed, Fails, NotAsked, NotHere, Proof
from features.operations import proofs as of_core
from features.operations import rights_proofs
from infra.settings import STAGES
from local.settings import STAGE
from shared import features, hooks
from shared.errors import Unavailable
from tools import documents

UNTESTED = 3
"""The exit code if no proof failed, but one could not be tried."""


def deployed() -> Deployed:
    """The stage of the stack in ``BTD_STACK``, or the running local cloud's. Raises NoTable."""
    named, addresses = os.environ.get("BTD_STACK"), {}
    reached: dict[str, Any] = {"region_name": os.environ.get("AWS_REGION")}
    if not named:
        cloud, reached = local_cloud("BTD_STACK names no stack")
        addresses = {"ApiUrl": f"{cloud['plainApiUrl']}/"}
    stage = next((each for each in STAGES.values() if each.stack_name == (named or STAGES[STAGE].stack_name)), None)
    if stage is None:
        raise NoTable(f"No stage of infra/settings.py has a stack {named}.")
    stacks = boto3.client("cloudformation", **reached).describe_stacks(StackName=stage.stack_name)["Stacks"]
    outputs = {each["OutputKey"]: each["OutputValue"] for each in stacks[0]["Outputs"]}
    return Deployed(stage, outputs | addresses, reached, secrets.token_hex(6))


@cache
def proofs() -> dict[str, Proof]:
    """The proofs of the core and of all features, by their names."""
    return {
        **rights_proofs.PROOFS,
        **of_core.PROOFS,
        **features.merged(hooks.Commands, lambda each: each.PROOFS),
    }


def probe(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="PROOF", help="Proofs to run; without any, all of them.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Test on a deployed stage what the design relies on, and show the ledger of claims with the results."""
    known = proofs()
    if unknown := {*(names or ())} - {*known}:
        raise typer.BadParameter(f"There is no proof {', '.join(sorted(unknown))}: choose one of {', '.join(known)}.")
    try:
        site = deployed()
    except (BotoCoreError, ClientError) as error:
        raise Unavailable(f"The stack cannot be read: {error}") from error
    note(f"Probing {site.stage.stack_name}, for fifteen minutes at most; what this makes is removed again.")
    for name, proof in known.items():
        _tidy(name, proof, site)
    results = {f"btd probe {name}": _result(known[name], site) for name in names or known}
    rows = []
    for claim in documents.claims():
        result = results.get(claim["proof"], {"result": "", "found": _filled(claim["proof"], site)})
        rows.append({"claim": claim["id"], "state": claim["state"], **result})
    if as_json:
        show_json({"result": rows})
    else:
        show_rows(["Claim", "State", "Result", "Found, or what would prove it"], [[*row.values()] for row in rows])
    came = {each["result"] for each in results.values()}
    if "fails" in came or "not asked" in came:
        raise typer.Exit(1 if "fails" in came else UNTESTED)


def _filled(proof: str, site: Deployed) -> str:
    """The commands of a proof that a person runs, with the stage's names and addresses where its stack has them."""
    own = {
        "STAGE": site.stage.name,
        "TABLE": site.outputs.get("TableName"),
        "API": site.outputs.get("ApiUrl", "").rstrip("/"),
        "APIID": site.outputs.get("ApiId"),
        "SITE": site.outputs.get("SiteUrl", "").rstrip("/"),
        "CDN": site.outputs.get("CdnDomainName"),
        "DOMAIN": site.stage.domain.name if site.stage.domain else None,
    }
    return re.sub(r"\b[A-Z]+\b", lambda word: own.get(word[0]) or word[0], proof)


def _tidy(name: str, proof: Proof, site: Deployed) -> None:
    """Remove what killed runs of any proof left. A failure is only reported."""
    try:
        for left in proof.tidy(site):
            note(f"Removed what an earlier run left: {left}.")
    except Exception as error:  # noqa: BLE001  # the proofs are still worth running
        note(f"What earlier runs of {name} left was not removed: {type(error).__name__}: {error}")


def _result(proof: Proof, site: Deployed) -> dict[str, str]:
    """A proof's result and finding.

    Only ``Fails`` contradicts the claim. Any other error, such as a missing right or a token that has expired, means
    that AWS could not be asked, and the other proofs go on. On the local cloud, ``works`` proves nothing about AWS.
    """
    here = site.stage.emulated
    try:
        result, found = "works" if here else "holds", proof.prove(site)
    except NotHere as reason:
        result, found = "unknown", str(reason)
    except NotAsked as reason:
        result, found = "unknown" if here and proof.blind else "not asked", str(reason)
    except Fails as reason:
        result, found = "unknown" if here and proof.blind else "fails", str(reason)
    except Exception as error:  # noqa: BLE001  # whatever it is, the other proofs are still worth running
        result, found = "not asked", f"{type(error).__name__}: {error}"
    return {"result": result, "found": f"{found}. Not shown here: {proof.emulator}" if here else found}
