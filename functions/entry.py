"""What Lambda starts: ``functions.entry.handler``, the handler of the function that the environment names.

This module alone works when it is imported, for its import is Lambda's INIT: it imports the function that ``FUNCTION``
names (such as ``functions.api.catalog``) and connects it to the table and the queue. INIT has a whole processor,
whatever the function's memory, and SnapStart remembers what it made.
"""

from __future__ import annotations

import gc
import importlib
import os
from typing import TYPE_CHECKING, Any

from shared.runtime import environment

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

gc.disable()  # nothing that is made here is garbage, so looking for it takes time and finds none
function = importlib.import_module(os.environ["FUNCTION"])
for make in (environment.logger, environment.table, environment.queue):
    if make in vars(function).values():
        make()
gc.freeze()  # later collections leave all this out, and so the pages it lies on untouched
gc.enable()


def handler(event: Any, context: LambdaContext) -> Any:
    """Hand an event to the function, whose requests have the time that Lambda has left."""
    environment.begin(context)
    return function.handler(event, context)
