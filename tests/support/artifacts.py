"""The Python on which tests run built artifacts: that of Lambda's runtime where it can be had, else this one."""

from __future__ import annotations

from dataclasses import replace

from infra.bundling import compiler
from infra.settings import ON_LAMBDA, this_machine

IS_LAMBDAS = compiler(ON_LAMBDA.python) is not None

RUNTIME = replace(this_machine(), python=ON_LAMBDA.python) if IS_LAMBDAS else this_machine()
"""This machine, with that Python."""

INTERPRETER = compiler(RUNTIME.python)

INSTEAD = (
    f"Python {ON_LAMBDA.python} is not on this machine, so artifacts run on {this_machine().python}: "
    f"'.venv/bin/uv python install {ON_LAMBDA.python}' provides it."
)
