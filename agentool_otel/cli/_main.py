"""The group of commands, and how errors become messages and exit codes."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from shlex import quote
from typing import Any, cast

import click

from agentool_otel.cli._given import note, without_given_secrets
from agentool_otel.cli._help import COMMANDS, with_examples
from agentool_otel.cli._messages import explain, print_error, print_usage_error, show_warnings
from agentool_otel.cli._program import as_called, note_call
from agentool_otel.cli._streams import prepare_streams
from agentool_otel.errors import AgentoolError, DecodeError, SourceError
from agentool_otel.ground.version import __version__

__all__ = ["main"]

_READING = frozenset({"show", "rebuild", "eval", "diff", "export", "validate"})
"""Those that read files of others."""

_EPILOG = """\b
Options: --version, --debug, -h. Those of a command, and an example:
agentool-otel COMMAND --help. What a SOURCE is: agentool-otel help source."""
_LIBRARIES = {
    "opentelemetry.sdk": "opentelemetry-sdk",
    "opentelemetry.exporter": "opentelemetry-exporter-otlp",
    "opentelemetry.proto": "opentelemetry-proto",
}
"""Libraries of ours that some environments are without, by package: reading needs none of them."""
_DEBUG_HINT = "--debug shows where it happened"
_UNREADABLE = 3
_USAGE = 2
_INTERRUPTED = 130
_PIPE_CLOSED = 141
_NoArguments: Any = getattr(click.exceptions, "NoArgsIsHelpError", ())
"""Of click 8.2 and newer; its message is the help. Before, the help was printed by itself."""


class _Commands(click.Group):
    """Loads a command's module when it is called, and turns errors into messages and exit codes."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        _last.name = cmd_name
        module = import_module(f"agentool_otel.cli.{cmd_name}")
        command = cast("click.Command", module.command)
        if not any(option.name == "debug" for option in command.params):
            command.params.append(_debug_option())
            if cmd_name in _READING:
                command.params.append(_unpack_option())
            command.epilog = as_called(with_examples(cmd_name))
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; for an unknown one or a file, name the one that may be meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            from difflib import get_close_matches

            if os.path.exists(args[0]):
                word = "run -- python" if args[0].endswith(".py") else "show"
                hint = f"{error.message}\n hint: agentool-otel {word} {quote(args[0])}"
                raise click.UsageError(hint, error.ctx) from error
            if similar := get_close_matches(args[0], COMMANDS, n=1):
                hint = f"{error.message}\n hint: did you mean {similar[0]!r}?"
                raise click.UsageError(hint, error.ctx) from error
            raise

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands, and no section of options: all of it fits one screen."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_dl(list(COMMANDS.items()))

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
        prepare_streams()
        show_warnings()
        _last.debug, _last.name = False, ""  # of a call before, in this process
        note(sys.argv[1:] if args is None else args)
        note_call()
        try:
            code = super().main(args, prog_name, complete_var, False, **extra)
        except click.ClickException as error:
            if isinstance(error, _NoArguments):
                click.echo(error.format_message(), err=True)
            else:
                print_usage_error(error)
            code = error.exit_code
        except click.Abort:
            click.echo("interrupted", err=True)
            code = _INTERRUPTED
        except AgentoolError as error:
            _print_traceback()
            shown = _instead_of_spans(error) if isinstance(error, DecodeError) else error
            explain(shown, _help_about(shown))
            code = _UNREADABLE if isinstance(error, (SourceError, DecodeError)) else _USAGE
        except ModuleNotFoundError as error:
            if (library := _LIBRARIES.get(_package(error.name))) is None:
                raise
            _print_traceback()
            message = f"{_last.name or 'this'} needs {library}, which is not installed"
            print_error(message, f"pip install {library}")
            code = _USAGE
        except OSError as error:
            _print_traceback()
            where = f"{error.filename}: " if error.filename else ""
            from agentool_otel.cli._system_errors import hint_for

            hint = hint_for(error) if error.filename else ""
            print_error(f"{where}{error.strerror or error}", hint or _DEBUG_HINT)
            code = 1
        sys.exit(code if isinstance(code, int) else 0)


def _package(module: str | None) -> str:
    """Return the first two parts of a module's name, which identify a library of OpenTelemetry."""
    return ".".join((module or "").split(".")[:2])


def _instead_of_spans(error: DecodeError) -> AgentoolError:
    from agentool_otel.cli._kinds import instead_of_spans

    return instead_of_spans(error)


def _help_about(error: AgentoolError) -> str:
    """Return the command that explains how to avoid an error without a hint."""
    if isinstance(error, SourceError):
        return "agentool-otel help source"
    if isinstance(error, DecodeError) and error.where is not None and os.path.isfile(error.where):
        return f"agentool-otel validate {quote(error.where)} lists all problems"
    return f"agentool-otel {_last.name} --help"


# --------------------------------------------------------------------------------- debugging


class _Last:
    """State of the command that runs in this process."""

    debug = False
    name = ""


_last = _Last()


def _print_traceback() -> None:
    """Print the traceback of the current error if `--debug` is given."""
    if _last.debug:
        click.echo(without_given_secrets(traceback.format_exc()), err=True)


def _debug_option() -> click.Option:
    def note(ctx: click.Context, option: click.Parameter, value: bool) -> None:
        _last.debug = _last.debug or value

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
        from agentool_otel.reading.sources.files.compression import limited_to

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


@click.command(
    cls=_Commands,
    name="agentool-otel",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="agentool-otel")
def main() -> None:
    """Record agents through OpenTelemetry, and read their steps back."""


main.params.append(_debug_option())
