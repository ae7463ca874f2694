"""The firewall in tests of all features."""

from __future__ import annotations

from features.firewall.rights import Firewall

OPTIONS = (Firewall(),)
