"""What Lambda starts: ``functions.entry.<function>`` is the handler of a function, with all made that it will need.

Importing a module of ours does nothing, this one included. Lambda asks it for one name, once for each execution
environment and before the first event: only then is the function imported, and connected to what the environment names.
That is INIT, which has a whole processor whatever the function's memory, and which SnapStart remembers.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shared.runtime import environment

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

ROOMS = ("api", "background", "pages")
"""The packages of functions."""


def __getattr__(function: str) -> Callable[..., Any]:
    """The handler of a function, ready for its first event. Raises AttributeError where there is no such function."""
    if function.startswith("_"):
        raise AttributeError(function)
    gc.disable()  # nothing that is made here is garbage, so looking for it takes time and finds none
    room = next((room for room in ROOMS if importlib.util.find_spec(f"functions.{room}.{function}")), None)
    if room is None:
        raise AttributeError(function)
    module = importlib.import_module(f"functions.{room}.{function}")
    for make in (environment.logger, environment.table, environment.queue):
        if vars(module).get(make.__name__) is make:
            make()
    gc.freeze()  # later collections leave all this out, and so the pages it lies on untouched
    gc.enable()

    def handler(event: Any, context: LambdaContext) -> Any:
        environment.begin(context)
        return module.handler(event, context)

    return handler
