"""The module that Lambda starts: ``functions.entry.handler`` handles events for the function in ``FUNCTION``.

Only this module does work on import, which is Lambda's INIT: it imports the function (such as
``functions.api.catalog``), and creates the logger and connections. SnapStart stores the result
(https://docs.aws.amazon.com/lambda/latest/dg/snapstart.html). It is often said, but not in AWS's documentation, that
INIT has a whole processor whatever the function's memory.
"""

from __future__ import annotations

import gc
import importlib
import os
from typing import TYPE_CHECKING, Any

gc.disable()  # INIT creates no garbage, so collecting would only take time

from shared.runtime import environment  # noqa: E402  # and botocore and Powertools with it

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.typing import LambdaContext

# pydantic would otherwise search all installed packages for plugins: https://docs.pydantic.dev/latest/concepts/plugins/
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
function = importlib.import_module(os.environ["FUNCTION"])
handle = function.handler
if os.environ.get("SHOWS_WORK") == "true":
    from shared import features, hooks  # other stages don't import it

    for each in features.roles(hooks.Entry):
        handle = each.wrap(function)
environment.logger()
if "TABLE_NAME" in os.environ:
    environment.table()
if "QUEUE_URL" in os.environ:
    environment.queue()
gc.freeze()  # later collections skip these objects, so their memory pages stay unwritten
gc.enable()


def handler(event: Any, context: LambdaContext) -> Any:
    """Pass an event to the function, whose requests may take Lambda's remaining time."""
    environment.begin(event, context)
    return handle(event, context)
