"""The modeller's command of ``btd``."""

from __future__ import annotations

from features.modeller.assistant import mcp

COMMANDS = (mcp,)
