"""Removing an account with all that is its owner's, in the order in which nothing is lost and nothing is left.

It stands above members and orders, because an account has something in both. The API, the pages and the command line
all remove accounts by this.
"""

from __future__ import annotations

from shared.data.members import account_checks, users
from shared.data.orders import carts, removing
from shared.dynamodb.table import Table
from shared.errors import OrdersRemain
from shared.models.members import User


def remove_account(table: Table, user: User) -> None:
    """Remove an account and all that is its owner's. Raises OrdersRemain, having removed nothing, and NoSuchUser.

    First the account says that it is leaving: from then on no request that still runs places an order, puts a deal into
    the cart, likes or saves anything. Only after that is it certain that no order is open. If one is, the account stays
    as it was.
    """
    table.write(account_checks.leaving(user.username))
    try:
        removing.forget_all(table, user.username)
    except OrdersRemain:
        table.write(account_checks.staying(user.username))
        raise
    users.remove(table, user, leaving=removing.leaving(user.username))
    # Another removal at the same moment may have let the account stay for a while, and something into its cart.
    carts.forget_all(table, user.username)
