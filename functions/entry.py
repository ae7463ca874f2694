"""The module that Lambda starts: ``functions.entry.handler`` is the handler of the function that the environment names.

Only this module does work when it is imported, because its import is Lambda's INIT: it imports the function that
``FUNCTION`` names (such as ``functions.api.catalog``), and makes the logger and the connections to what it may use.
SnapStart remembers what INIT made (https://docs.aws.amazon.com/lambda/latest/dg/snapstart.html); that INIT has a whole
processor, whatever the function's memory, is often said, but not in AWS's documentation.
"""

from __future__ import annotations

import gc
import importlib
import os
from typing import TYPE_CHECKING, Any

gc.disable()  # nothing that INIT makes is garbage, so collecting it would only take time

from shared.runtime import environment  # noqa: E402  # and botocore and Powertools with it

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

# pydantic would look through all installed packages for plugins: https://docs.pydantic.dev/latest/concepts/plugins/
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
function = importlib.import_module(os.environ["FUNCTION"])
handle = function.handler
if os.environ.get("SHOWS_WORK") == "true":
    from shared import features  # other stages do not import what shows it

    for wrapped in features.of("wraps"):
        handle = wrapped(function)
environment.logger()
if "TABLE_NAME" in os.environ:
    environment.table()
if "QUEUE_URL" in os.environ:
    environment.queue()
gc.freeze()  # later collections skip these objects, so the memory they are in is not written
gc.enable()


def handler(event: Any, context: LambdaContext) -> Any:
    """Hand an event to the function, whose requests have the time that Lambda has left."""
    environment.begin(event, context)
    return handle(event, context)
