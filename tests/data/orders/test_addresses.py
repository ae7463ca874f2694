"""Addresses are saved, replaced and removed, ten at most."""

from __future__ import annotations

from dataclasses import replace

import pytest

from shared.data.members import users
from shared.data.orders import addresses
from shared.dynamodb.table import Table
from shared.errors import NoSuchUser, TooManyAddresses, UnknownAddress
from tests.support.factories import a_user
from tests.support.shop import HOME_ADDRESS
from tests.support.wire import before, watched

pytestmark = pytest.mark.usefixtures("counted_as_told")


@pytest.fixture(autouse=True)
def _ana(table: Table) -> None:
    users.create(table, a_user("ana"))


def test_an_address_replaces_the_one_of_its_name_and_no_other(table: Table) -> None:
    moved = replace(HOME_ADDRESS, street="1 New Street", region=None)
    assert addresses.of(table, "ana") == {}
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    addresses.save(table, "ana", "work", HOME_ADDRESS)

    with watched(table) as wire:
        addresses.save(table, "ana", "home", moved)

    assert wire.operations == {"UpdateItem": 1}
    assert addresses.of(table, "ana") == {"home": moved, "work": HOME_ADDRESS}


def test_of_two_first_addresses_at_once_both_are_saved(table: Table) -> None:
    with before(table, "UpdateItem", lambda: addresses.save(table, "ana", "work", HOME_ADDRESS), skip=1):
        addresses.save(table, "ana", "home", HOME_ADDRESS)

    assert addresses.of(table, "ana").keys() == {"home", "work"}


def test_the_eleventh_address_is_refused_and_the_tenth_can_be_replaced(table: Table) -> None:
    for number in range(10):
        addresses.save(table, "ana", f"address {number}", HOME_ADDRESS)

    with pytest.raises(TooManyAddresses):
        addresses.save(table, "ana", "one more", HOME_ADDRESS)
    addresses.save(table, "ana", "address 9", replace(HOME_ADDRESS, city="Bangor"))

    assert len(addresses.of(table, "ana")) == 10
    assert addresses.of(table, "ana")["address 9"].city == "Bangor"


def test_an_address_that_is_not_there_cannot_be_removed(table: Table) -> None:
    with pytest.raises(UnknownAddress):
        addresses.remove(table, "ana", "home")
    addresses.save(table, "ana", "home", HOME_ADDRESS)
    with pytest.raises(UnknownAddress):
        addresses.remove(table, "ana", "work")


def test_nobody_has_no_addresses(table: Table) -> None:
    with pytest.raises(NoSuchUser):
        addresses.save(table, "nobody", "home", HOME_ADDRESS)
    with pytest.raises(NoSuchUser):
        addresses.of(table, "nobody")


def test_whatever_an_address_is_called_is_its_name_and_nothing_else(table: Table) -> None:
    addresses.save(table, "ana", "home", HOME_ADDRESS)

    for name in ("a.b", "a#b", "Ünterhalb 3", "#name", "Addresses", "size", "x" * 40):
        addresses.save(table, "ana", name, HOME_ADDRESS)
        assert addresses.of(table, "ana").keys() == {"home", name}
        addresses.remove(table, "ana", name)
        assert addresses.of(table, "ana").keys() == {"home"}
