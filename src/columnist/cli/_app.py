"""The application, with its commands in the order of the help page."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from columnist.cli import (
    _apply,
    _certify,
    _clean,
    _compare,
    _data,
    _demo,
    _outliers,
    _rank,
    _select,
    _verify,
)
from columnist.cli._errors import guarded, say_error
from columnist.cli._invocation import remember
from columnist.cli._options import Anywhere, DaskCommand, command, examples

_EPILOG = "\n\n".join(
    [
        "[bold]Exit codes[/bold]",
        "  0  done; also when Ctrl-C or a limit ended a search, whose best so far is kept",
        "  1  the task failed: interrupted before anything was found, the Dask cluster went away, "
        "certify --strict found better columns, verify refuted a proof, no selector of compare "
        "could select",
        "  2  bad input, bad options, or a file that cannot be read or written",
    ]
)

app = typer.Typer(
    name="columnist",
    help="Choose columns of a data matrix, and prove how good the choice is.",
    epilog=_EPILOG,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module, task in (
    (_select, _select.Select),
    (_apply, _apply.Apply),
    (_certify, _certify.Certify),
    (_verify, _verify.Verify),
    (_rank, _rank.Rank),
    (_compare, _compare.Compare),
    (_outliers, _outliers.Outliers),
    (_clean, _clean.Clean),
):
    app.command(
        task.command,
        cls=DaskCommand if issubclass(module.Options, Anywhere) else None,
        epilog=examples(*module.EXAMPLES, after=task.note),
        help=task.__doc__,
    )(command(module.Options, task.carry_out))
app.add_typer(_data.app, name="data", epilog=_data.EPILOG)
app.command("demo", epilog=_demo.EPILOG)(_demo.demo)


@app.callback(invoke_without_command=True)
def _program(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error comes from (COLUMNIST_DEBUG=1).")
    ] = False,
) -> None:
    if debug:
        os.environ["COLUMNIST_DEBUG"] = "1"
    if version:
        from columnist import __version__

        print(f"columnist {__version__}")
        raise typer.Exit()
    if context.invoked_subcommand is None:
        print(context.get_help())


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the application and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # some names cannot be displayed
            stream.reconfigure(errors="backslashreplace")
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    remember(arguments)
    return guarded(lambda: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    try:
        code = app(args=arguments, prog_name="columnist", standalone_mode=False)
    except Exception as error:
        if not hasattr(error, "format_message"):
            raise
        context = getattr(error, "ctx", None)
        path = "columnist" if context is None else context.command_path
        message = error.format_message().replace("Value error, ", "")
        say_error(f"{message} (see {path} --help)")
        return 2
    sys.stdout.flush()
    return code if isinstance(code, int) else 0
