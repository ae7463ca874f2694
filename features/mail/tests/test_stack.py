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


MAIL = Mail(sender="deals@deals.example", postal_address="1 Main Street, Springfield")


def test_mail_needs_an_address_for_its_links() -> None:
    with pytest.raises(ValueError, match="mail needs an address"):
        replace(STAGES["prod"], options=(Proxy(), MAIL))


def test_mail_from_a_name_is_refused() -> None:
    for wrong in ({"sender": "Deals <deals@deals.example>"}, {"reply_to": "Ana"}):
        with pytest.raises(ValueError, match="without names"):
            replace(MAIL, **wrong)
