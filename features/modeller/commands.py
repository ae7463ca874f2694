"""The modeller's command of ``btd``, and its tools for assistants."""

from __future__ import annotations

from features.modeller.assistant import evaluate_model, explain, mcp, patterns

COMMANDS = (mcp,)
TOOLS = (patterns, explain, evaluate_model)
