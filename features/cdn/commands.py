"""The proof that closed APIs answer CloudFront alone."""

from __future__ import annotations

from cli import proofs
from cli.proofs import Deployed, Fails, NotHere, Proof


def closed(site: Deployed) -> str:
    """Closed APIs refuse requests that bypass CloudFront."""
    direct, _ = proofs.ask("GET", f"{site.outputs['ApiUrl']}front-page")
    if not site.stage.closes_apis:
        raise NotHere(f"the stage does not close its APIs; asked directly, this one answers {direct}")
    through, _ = proofs.ask("GET", f"{site.outputs['CdnUrl']}front-page")
    if (direct, through) != (401, 200):
        raise Fails(f"asked directly it answers {direct}, through CloudFront {through}")
    return "401 directly, 200 through CloudFront"


PROOFS = {"closed": Proof(closed, 60, "MiniStack has neither CloudFront nor policies of APIs")}
