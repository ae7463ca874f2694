"""The networks around an address: one customer may have all of a network's IPv6 addresses."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable


def around(address: str, widths: Iterable[int]) -> list[str]:
    """The networks that an address is in: itself alone if it is IPv4, or one of each width, in their order.

    A text that is no address is in the network ``unknown``.
    """
    try:
        ip = ipaddress.ip_address(address)
    except ValueError:
        return ["unknown"]
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped  # their networks would be one and the same for everybody
    if ip.version == 4:
        return [str(ip)]
    return [str(ipaddress.ip_network(f"{ip.packed.hex(':', 2)}/{width}", strict=False)) for width in widths]
