"""Settings that features add to a stage: ``Stage.options`` has one for each feature that the stage is to have.

A feature declares its settings in a module here, as a frozen dataclass, without aws_cdk: commands read stages, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from infra.settings import Stage


class Option:
    """The settings of one feature. The rest asks nothing of them but what is here, with the usual answers."""

    __slots__ = ()

    guards_apis: ClassVar[bool] = False
    """Whether it is a firewall of both APIs."""

    in_front: ClassVar[bool] = False
    """Whether it is in front of both APIs, under another name and without their stages in paths."""

    @property
    def host(self) -> str | None:
        """The name of what is in front, or None where it is known only after the deployment."""
        return None

    @property
    def closes_apis(self) -> bool:
        """Whether the APIs answer only to what is in front of them."""
        return False

    def check(self, stage: Stage) -> None:
        """Raise ValueError for a stage that cannot have it."""
