"""Measurements. Each is a ratio against a named yardstick from one interleaved run: ``python -m benchmarks``."""
