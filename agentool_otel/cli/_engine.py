"""The option `--engine`, and the options that Spark does not take."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

import click
from click.core import ParameterSource

__all__ = ["SPARK", "engine_option", "refuse_others"]

SPARK = "spark"
_Command = TypeVar("_Command", bound=Callable[..., int])


def engine_option(command: _Command) -> _Command:
    """Add the option; the command receives `engine`."""
    return click.option(
        "--engine",
        type=click.Choice(["local", SPARK]),
        default="local",
        show_default=True,
        help="Where the work is done: in this process, or on the Spark cluster that Spark's own "
        "configuration names, else on all cores (needs the extra `spark` and Java 17).",
    )(command)


def refuse_others(supported: Collection[str]) -> None:
    """Refuse the options of the command line that Spark does not take.

    Args:
        supported: names of the parameters that it takes.

    Raises:
        click.UsageError: there is another one.
    """
    context = click.get_current_context()
    for param in context.command.params:
        given = context.get_parameter_source(param.name or "")
        if given is ParameterSource.COMMANDLINE and param.name not in (*supported, "engine"):
            raise click.UsageError(f"{param.opts[0]} is not supported with --engine {SPARK}")
