"""Rewriting the installed libraries so that functions start sooner: off unless a stage asks for it (docs/lean.md)."""
