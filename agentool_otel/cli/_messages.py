"""Messages on stderr: one bounded line each, with a hint for an error."""

from __future__ import annotations

import logging

import click

from agentool_otel.cli._given import without_given_secrets
from agentool_otel.cli._program import as_called
from agentool_otel.errors import CasesError
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.untrusted_text import flat

__all__ = ["explain", "print_error", "print_usage_error", "show_warnings", "single_line"]

_LONGEST = 1000
"""Characters of a message. A message may quote a value of any size."""
_END = 250
"""Characters that are kept of the end, where the place of the value is named."""
_HINT = re.compile(r"[;,.]?(?<!\s)\s+hint: ")


def single_line(text: str) -> str:
    """Return a message on one line, without credentials, without the middle where it is long."""
    text = as_called(without_given_secrets(text))
    if (more := len(text) - _LONGEST) > 0:
        cut = f" [... {more:,} characters ...] "
        text = text[: _LONGEST - _END] + cut + text[-_END:]
    return flat(text)


def explain(error: Exception, hint: str = "") -> None:
    """Print an error's message, its hint on a line of its own.

    Args:
        error: the error.
        hint: what to do, where the error has no hint of its own.
    """
    if isinstance(error, CasesError):
        headline, *lines = error.lines()
        print_error(headline)
        for line in lines:
            click.echo(f"  {single_line(line)}", err=True)
    else:
        print_error(str(error), hint)


def print_error(text: str, hint: str = "") -> None:
    """Print an error.

    Args:
        text: the message; what follows `hint: ` in it is the hint.
        hint: what to do, where the message has no hint of its own.
    """
    message, _, own_hint = _HINT.sub("\0", text, count=1).partition("\0")
    click.echo(
        f"{click.style('error:', fg='red', bold=True)} {single_line(message)}",
        err=True,
    )
    if hint := own_hint or hint:
        click.echo(f"{click.style(' hint:', bold=True)} {single_line(hint)}", err=True)


def print_usage_error(error: click.ClickException) -> None:
    """Print an error of the command line; its hint is the help of the command."""
    command = error.ctx.command_path if isinstance(error, click.UsageError) and error.ctx else None
    message = error.format_message().replace("is not a valid integer range", "is not an integer")
    print_error(message, f"{command} --help" if command else "")


class _Warnings(logging.Handler):
    """Warnings of the package as one line on stderr each."""

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            message += f" ({record.exc_info[1]})"
        click.echo(f"warning: {single_line(message)}", err=True)


def show_warnings() -> None:
    """Print warnings of the package from now on."""
    logger = logging.getLogger("agentool_otel")
    if not any(isinstance(handler, _Warnings) for handler in logger.handlers):
        logger.addHandler(_Warnings(logging.WARNING))
