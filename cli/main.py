"""The commands of ``btd``, and their exit codes: 0 done, 1 refused or failed, 2 not understood, 130 interrupted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import chain
from typing import Any

import typer
from typer._click.exceptions import ClickException, NoArgsIsHelpError  # typer has its own click since 0.26
from typer.core import TyperGroup

from cli import INTERRUPTED, catalog, members, table
from cli.commands import NoTable, command
from cli.output import complain
from shared import features, hooks
from shared.dynamodb import damage
from shared.errors import DealsError


class Commands(TyperGroup):
    """The commands as a group that turns every error into one line and an exit code."""

    def main(self, *arguments: Any, **options: Any) -> Any:
        """Run a command line; a usage error is one line, too, instead of typer's box."""
        standalone = options.get("standalone_mode", True)
        options["standalone_mode"] = False
        try:
            code = super().main(*arguments, **options)
        except NoArgsIsHelpError as error:
            error.show()
            code = error.exit_code
        except ClickException as error:
            complain(error.format_message())
            code = error.exit_code
        except typer.Abort:
            complain("Nothing was done.")
            code = 1
        for name in dict.fromkeys(damage.taken()):
            complain(f"Left out, because it cannot be read: {name}")
        if not standalone:
            return code
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:
            complain(" ".join(("Interrupted.", *map(str, error.args))))  # an orderly interruption says how to continue
            raise typer.Exit(INTERRUPTED) from error
        except NoTable as error:
            complain(str(error))
            raise typer.Exit(2) from error
        except DealsError as error:
            complain(str(error) or type(error).__name__)
            raise typer.Exit(1) from error


app = typer.Typer(
    cls=Commands,
    help="Big Time Deals: read and write deals, keep accounts, and follow each access pattern of the table.",
    epilog="BTD_TABLE names the table; boto3's own environment (AWS_PROFILE, AWS_REGION, AWS_ENDPOINT_URL) says where "
    "it is. Without BTD_TABLE, the local cloud of this checkout is used.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def name_of(do: Callable[..., None]) -> str:
    """A command's name, as it is typed."""
    return do.__name__.rstrip("_").replace("_", "-")


OF_FEATURES = features.roles(hooks.Commands)
REPLACED = features.merged(hooks.Commands, lambda each: each.REPLACES)

_GROUPS = (
    *(catalog.deals_app, catalog.brand_app, catalog.category_app, catalog.pages_app),
    *(members.users_app, members.me_app, members.alerts_app, members.messages_app, members.sessions_app),
)
_COMMANDS = (table.query, table.seed, table.sweep)
GROUPS = (*_GROUPS, *chain.from_iterable(each.GROUPS for each in OF_FEATURES))
COMMANDS: tuple[Callable[..., None], ...] = (
    *_COMMANDS,
    *chain.from_iterable(each.COMMANDS for each in OF_FEATURES),
)
NAMES = (
    *(str(group.info.name) for group in _GROUPS),
    *(name_of(each) for each in _COMMANDS),
    *(
        f"{group.info.name} {each.name or getattr(each.callback, '__name__', '')}"
        for group in GROUPS
        for each in group.registered_commands
    ),
)
"""The core's groups and commands, and the commands of all groups, such as ``deals edit``, but for those that features
add to groups of others."""


for group in GROUPS:
    for each in OF_FEATURES:
        for subcommand in each.SUBCOMMANDS.get(str(group.info.name), ()):
            command(group)(subcommand)
    app.add_typer(group)
for do in COMMANDS:
    app.command(name_of(do))(REPLACED.get(name_of(do), do))

if __name__ == "__main__":
    app()
