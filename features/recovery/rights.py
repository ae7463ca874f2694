"""The setting that backs the table up, and copies the backups to another account or region."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from infra.stage import Option

if TYPE_CHECKING:
    from infra.stage import Stage

_VAULT = re.compile(r"arn:aws[a-z-]*:backup:(?P<region>[a-z0-9-]+):(?P<account>[0-9]{12}):backup-vault:[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery(Option):
    """Backups in a vault of AWS Backup; ``features/recovery/README.md`` explains each setting."""

    services = ("backup",)

    copy_to: str | None = None
    days: int = 35
    drill: bool = True

    def __post_init__(self) -> None:
        if self.copy_to is not None and not _VAULT.fullmatch(self.copy_to):
            raise ValueError(f"copy_to must be the ARN of a backup vault, and not {self.copy_to!r}.")
        if self.days < 1:
            raise ValueError(f"Backups must be kept for a day or more, and not for {self.days}.")

    def check(self, stage: Stage) -> None:
        """Raise ValueError for copies that would be where the backups are, and for a table that isn't the stack's."""
        found = _VAULT.fullmatch(self.copy_to) if self.copy_to else None
        if found and (found["region"], found["account"]) == (stage.region, stage.account):
            raise ValueError(f"copy_to must be in another account or region than stage {stage.name}: {self.copy_to}.")
