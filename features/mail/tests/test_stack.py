"""Mail in the stack."""

from __future__ import annotations

from dataclasses import replace

import pytest

from features.mail.rights import Mail
from infra.settings import STAGES
from infra.stage import Option


class Proxy(Option):
    """Something in front of both APIs whose name is known only after deployment."""

    in_front = True


def test_mail_needs_an_address_for_its_links() -> None:
    mail = Mail(sender="deals@deals.example", postal_address="1 Main Street, Springfield")

    with pytest.raises(ValueError, match="mail needs an address"):
        replace(STAGES["prod"], options=(Proxy(), mail))
