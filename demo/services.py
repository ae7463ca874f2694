"""In the place of S3 and SQS, of which a tab reaches none: files and messages in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from shared.s3 import File, Form


@dataclass
class Files:
    """The bucket: files in memory. Browsers cannot send any: ``address``, where a form would go, refuses them."""

    address: str = ""
    held: dict[str, tuple[str, str]] = field(default_factory=dict)
    name = "pictures"

    def write(self, key: str, content: bytes, media_type: str, **_noted: str) -> None:
        self.held[key] = (content.decode(), media_type)

    def read(self, key: str, _most: int) -> File | None:
        found = self.held.get(key)
        return File(found[0].encode(), found[1], "", {}) if found else None

    def replaced(self, _key: str) -> None:
        """Nothing to mark: a file stays as long as the tab."""

    def form(self, _key: str, _most: int, _seconds: int, fields: dict[str, str]) -> Form:
        return Form(self.address, fields)


@dataclass
class Waiting:
    """The queue of the fan-out: a list. Its hook for what is sent is that of botocore's client."""

    bodies: list[str] = field(default_factory=list)
    hooks: list[Callable[..., None]] = field(default_factory=list)

    @property
    def client(self) -> Any:
        def register(_event: str, hook: Callable[..., None]) -> None:
            self.hooks.append(hook)

        def unregister(_event: str, hook: Callable[..., None]) -> None:
            self.hooks.remove(hook)

        return SimpleNamespace(meta=SimpleNamespace(events=SimpleNamespace(register=register, unregister=unregister)))

    def send(self, bodies: Sequence[str]) -> None:
        self.bodies += bodies
        for hook in self.hooks:
            hook({"Entries": bodies})
