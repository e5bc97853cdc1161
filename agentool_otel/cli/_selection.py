"""Options that select the runs to show or evaluate."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from agentool_otel.cli._param_types import IntType
from agentool_otel.evaluation.selecting import KNOWN_STATUSES, Selection
from agentool_otel.model.times import parse_time

__all__ = ["last_option", "selecting"]


_Command = Callable[..., int]


class _Time(IntType):
    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if (at := parse_time(value, time.time_ns())) is None:
            self.fail(
                f"expected a time, such as 2026-11-22T10:00:00Z, a day, or how long ago, such as "
                f"2h, got {value!r}"
            )
        return at


def _statuses(
    ctx: click.Context, option: click.Parameter, words: tuple[str, ...]
) -> tuple[str, ...]:
    """Refuse a misspelt status. Traces may have other words than the known ones."""
    for word in words:
        is_pattern = any(character in word for character in "*?[")
        if word in KNOWN_STATUSES or is_pattern:
            continue
        from difflib import get_close_matches

        if similar := get_close_matches(word, KNOWN_STATUSES, n=1):
            raise click.BadParameter(f"{word!r}; hint: did you mean {similar[0]!r}?", ctx, option)
    return words


def last_option(words: str) -> Callable[[_Command], _Command]:
    """Return a decorator that adds `--last`; the words of its help follow "Only the N"."""
    return click.option(
        "--last", type=click.IntRange(min=1), metavar="N", help=f"Only the N {words}"
    )


_OPTIONS = (
    click.option(
        "--agent", "agents", multiple=True, metavar="NAME", help="Only runs of this agent."
    ),
    click.option(
        "--model", "models", multiple=True, metavar="NAME", help="Only runs that call this model."
    ),
    click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only runs with this tag."),
    click.option(
        "--status",
        "statuses",
        multiple=True,
        metavar="WORD",
        callback=_statuses,
        help="Only runs that ended so: a status, cancelled, interrupted or exited.",
    ),
    click.option(
        "--session", "sessions", multiple=True, metavar="ID", help="Only runs that belong to it."
    ),
    click.option(
        "--text",
        "texts",
        multiple=True,
        metavar="TEXT",
        help="Only runs in which it occurs, in upper or lower case.",
    ),
    click.option(
        "--since", type=_Time(), metavar="TIME", help="Only runs that started then or later."
    ),
    click.option("--until", type=_Time(), metavar="TIME", help="Only runs that started before."),
)


def selecting(command: _Command) -> _Command:
    """Add the options; the command receives the result as `selection`.

    Names may be given more than once, and may be shell patterns, as `research*`.
    """

    def selected(
        agents: tuple[str, ...],
        models: tuple[str, ...],
        tags: tuple[str, ...],
        statuses: tuple[str, ...],
        sessions: tuple[str, ...],
        texts: tuple[str, ...],
        since: int | None,
        until: int | None,
        **others: Any,
    ) -> int:
        chosen = Selection(agents, models, tags, statuses, since, until, sessions, texts)
        return command(selection=chosen if chosen != Selection() else None, **others)

    selected.__doc__ = command.__doc__
    selected.__dict__.update(command.__dict__)
    decorated: _Command = selected
    for option in reversed(_OPTIONS):
        decorated = option(decorated)
    return decorated
