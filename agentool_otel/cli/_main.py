"""The group of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, cast

import click

from agentool_otel.cli._given import note, without_given_secrets
from agentool_otel.errors import AgentoolError, CasesError, DecodeError, SourceError
from agentool_otel.ground import environment
from agentool_otel.ground.version import __version__
from agentool_otel.ground.words import flat

__all__ = ["main"]

_COMMANDS = {
    "run": "Record a Python program without changing it.",
    "demo": "Run a small agent here and now and show what is recorded.",
    "show": "Show the steps of recorded runs.",
    "rebuild": "Turn spans into ReasoningTrace JSON Lines.",
    "eval": "Check recorded runs against cases.",
    "diff": "Say what differs between recorded runs.",
    "compare": "Compare runs of the same task in several frameworks.",
    "export": "Turn ReasoningTrace documents into spans.",
    "convert": "Turn documents of other systems into each other.",
    "validate": "Check documents, cases and recordings.",
    "schema": "Print the JSON Schema of cases, for editors.",
    "recover": "Close and re-send what a dead process left.",
    "doctor": "Report what is attached and whether spans arrive.",
    "registry": "Print our attribute names for OpenTelemetry Weaver.",
}
"""Command to its line in `--help`, which is shown without importing any of them."""

_READING = frozenset({"show", "rebuild", "eval", "diff", "export", "validate"})
"""Those that read files of others."""

_TOKEN, _TENANT = (
    " and ".join(map(variable, ("tempo", "jaeger")))
    for variable in (environment.token_variable, environment.tenant_variable)
)
_SOURCE = (
    "SOURCE is a file, a folder, a glob pattern or `-`; by default the folder that programs record "
    f"into, .agentool/ or {environment.FOLDER}. Or it is a server: tempo://HOST:3200, "
    "jaeger://HOST:16686, over TLS tempo+https:// and jaeger+https://, with a base path and, after "
    "`?`, what to read: trace=ID, or service=NAME, attribute=KEY=VALUE, since= and until= (2h ago, "
    "or a time; the last hour by default), timeout=60s, within=1h, max_traces=1000000, "
    f"max_requests=2000000, max_services=10000. {_TOKEN} are sent as Bearer, {_TENANT} as the "
    "tenant, user:password@ in the URL as Basic. Servers need the extra `servers`."
)
_UNREADABLE = 3
_USAGE = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141


class _Commands(click.Group):
    """Loads a command's module when it is called, and turns errors into messages and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        module = import_module(f"agentool_otel.cli.{cmd_name}")
        command = cast("click.Command", module.command)
        if not any(option.name == "debug" for option in command.params):
            command.params.append(_debug_option())
            if cmd_name in _READING:
                command.params.append(_unpack_option())
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; of an unknown one, say which it may have been."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            if similar := get_close_matches(args[0], _COMMANDS, n=1):
                hint = f"{error.message}\n hint: did you mean {similar[0]!r}?"
                raise click.UsageError(hint, error.ctx) from error
            raise

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            code = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read our output has seen enough
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _PIPE_CLOSED
        return code

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        _show_warnings()
        _forgive_encodings()
        _flags["debug"] = False  # of a call before, in this process
        note(sys.argv[1:] if args is None else args)
        try:
            code = super().main(args, prog_name, complete_var, False, **extra)
        except click.ClickException as error:
            vars(error)["message"] = without_given_secrets(error.message)
            error.show()
            code = error.exit_code
        except click.Abort:
            click.echo("interrupted", err=True)
            code = _INTERRUPTED
        except AgentoolError as error:
            _print_traceback()
            explain(_instead_of_spans(error) if isinstance(error, DecodeError) else error)
            code = _UNREADABLE if isinstance(error, (SourceError, DecodeError)) else _USAGE
        except OSError as error:
            _print_traceback()
            where = f"{error.filename}: " if error.filename else ""
            _print_error(f"{where}{error.strerror or error}")
            code = 1
        sys.exit(code if isinstance(code, int) else 0)


def _instead_of_spans(error: DecodeError) -> AgentoolError:
    from agentool_otel.cli._kinds import instead_of_spans

    return instead_of_spans(error)


def explain(error: Exception) -> None:
    """Print an error's message on stderr, its hint on a line of its own."""
    if isinstance(error, CasesError):
        headline, *lines = error.lines()
        _print_error(headline)
        for line in lines:
            click.echo(f"  {flat(without_given_secrets(line))}", err=True)
    else:
        _print_error(str(error))


def _print_error(text: str) -> None:
    # A message may quote what was recorded.
    text = without_given_secrets(text)
    message, _, hint = re.sub(r"[;,.]?(?<!\s)\s+hint: ", "\0", text, count=1).partition("\0")
    click.echo(f"{click.style('error:', fg='red', bold=True)} {flat(message)}", err=True)
    if hint:
        click.echo(f"{click.style(' hint:', bold=True)} {flat(hint)}", err=True)


# --------------------------------------------------------------------------------- debugging

_flags = {"debug": False}


def _print_traceback() -> None:
    """Print the traceback of the present error where `--debug` asks for it."""
    if _flags["debug"]:
        click.echo(without_given_secrets(traceback.format_exc()), err=True)


def _debug_option() -> click.Option:
    def note(ctx: click.Context, option: click.Parameter, value: bool) -> None:
        _flags["debug"] = _flags["debug"] or value

    return click.Option(
        ["--debug"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=note,
        help="Show the traceback of an error.",
    )


# --------------------------------------------------------------------------------- reading


def _unpack_option() -> click.Option:
    def limit(ctx: click.Context, option: click.Parameter, text: str | None) -> None:
        if text is None:
            return
        from agentool_otel.ground.variable_values import size
        from agentool_otel.sources.files.compression import limited_to

        try:
            ctx.with_resource(limited_to(size(text)))
        except ValueError as error:
            raise click.BadParameter(f"{text} {error}", ctx, option) from error

    return click.Option(
        ["--unpack-limit"],
        metavar="SIZE",
        expose_value=False,
        callback=limit,
        help="Bytes that may come out of a compressed input, such as 20GB.",
    )


# ----------------------------------------------------------------------------------- streams


class _Warnings(logging.Handler):
    """Warnings of the package as one line on stderr each."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message += f" ({record.exc_info[1]})"
        click.echo(f"warning: {flat(without_given_secrets(message))}", err=True)


def _show_warnings() -> None:
    logger = logging.getLogger("agentool_otel")
    if not any(isinstance(handler, _Warnings) for handler in logger.handlers):
        logger.addHandler(_Warnings(logging.WARNING))


def _forgive_encodings() -> None:
    """Print a question mark for characters that the terminal cannot show."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


@click.command(
    cls=_Commands,
    name="agentool-otel",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_SOURCE,
)
@click.version_option(__version__, prog_name="agentool-otel")
def main() -> None:
    """Agents seen through OpenTelemetry: record them, read their steps back."""


main.params.append(_debug_option())
