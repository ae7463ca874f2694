"""Messages about orders."""

from __future__ import annotations

from shared.data.members import messages
from shared.dynamodb.table import Table
from shared.models.messages import AboutOther, Announcement
from tests.support.factories import NOW


def test_a_message_may_be_about_an_order_and_shows_each_of_its_steps(table: Table) -> None:
    about = AboutOther("order", "3F2VM8KqLdHD6qBOm7B4Q0YD0Fr")
    placed = Announcement("placed", "We have your order.", about, NOW)
    cancelled = Announcement("cancelled", "Your order is cancelled.", about, NOW)

    table.transact(*(messages.sending(messages.compose(told, "ana")) for told in (placed, cancelled)))

    inbox = messages.latest(table, "ana", limit=25, now=NOW).items
    assert {(message.kind, message.about) for message in inbox} == {("placed", about), ("cancelled", about)}
