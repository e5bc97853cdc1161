"""`clean`: remove old recordings."""

from __future__ import annotations

import shlex
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from agentool_otel.cli import _text
from agentool_otel.cli._output import say
from agentool_otel.cli._param_types import IntType
from agentool_otel.errors import SourceDenied, SourceUnreachable
from agentool_otel.export.disk.removal import (
    Recording,
    State,
    recordings_in,
    remove,
    unreferenced_texts,
)
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.ground.ownership import why_untrusted
from agentool_otel.model.times import parse_duration

__all__ = ["command"]


class _Age(IntType):
    name = "age"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        if (age := parse_duration(value)) is None:
            self.fail(f"{value!r} is no age, such as 7d, 12h or 30m", param, ctx)
        return age


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--older", type=_Age(), metavar="AGE", help="Only recordings last written before: 7d."
)
@click.option(
    "--keep", type=click.IntRange(min=0), metavar="N", help="Leave the N newest recordings."
)
@click.option("--dry-run", is_flag=True, help="List what would be removed, and remove nothing.")
def command(folder: Path | None, older: int | None, keep: int | None, dry_run: bool) -> int:
    """Remove recordings: all of them, or those that the options name.

    A recording is the file of one program in DIR, by default .agentool/ (AGENTOOL_DIR). Results
    that `eval --write-back` has put there are recordings too, of which --keep leaves as many. Large
    texts that no other recording refers to go with them.

    Recordings of programs that are running stay, and so do those of killed programs until `recover`
    has closed them. What waits to be sent is never removed.
    """
    folder = folder or recordings_folder()
    recordings = _recordings(folder)
    chosen = _chosen(recordings, older, keep)
    finished = [it for it in chosen if it.state is State.FINISHED]
    texts = unreferenced_texts(folder, finished) if _is_idle(recordings) else []
    for path in [*(it.path for it in finished), *texts] if dry_run else ():
        click.echo(str(path))
    size = sum(it.size for it in finished) + sum(path.stat().st_size for path in texts)
    removed = len(finished)
    if not dry_run:
        removed = len(remove(finished))
        if removed == len(finished) and _is_idle(_recordings(folder)):
            for path in texts:
                path.unlink(missing_ok=True)
    done = "would be removed from" if dry_run else "removed from"
    amount = f", {_text.size(size)}" if removed else ""
    say(f"{_text.count(removed, 'recording')} {done} {folder}{amount}")
    _say_kept(folder, Counter(it.state for it in chosen), len(recordings) - removed)
    return 0


def _is_idle(recordings: Sequence[Recording]) -> bool:
    """Return whether no program is running that may refer to a text once more."""
    return all(it.state is not State.LIVE for it in recordings)


def _recordings(folder: Path) -> list[Recording]:
    """Return the recordings in a folder.

    Raises:
        SourceUnreachable: there is no such folder.
        SourceDenied: it may not be read, or others may exchange files in it.
    """
    if not folder.is_dir():
        raise SourceUnreachable(
            f"there is no folder {folder}; hint: name the folder that programs recorded into"
        )
    if (why := why_untrusted(folder)) is not None:
        raise SourceDenied(
            f"nothing is removed from {folder}: {why}; hint: ls -ld {folder} shows whose it is"
        )
    try:
        return recordings_in(folder)
    except OSError as error:
        raise SourceDenied(f"{folder} may not be read: {error.strerror or error}") from error


def _chosen(
    recordings: Sequence[Recording], older: int | None, keep: int | None
) -> list[Recording]:
    """Return the recordings that the options name."""
    latest_ns = None if older is None else time.time_ns() - older
    newer: Counter[str] = Counter()
    chosen: list[Recording] = []
    for recording in recordings:
        newer[recording.kind] += 1
        is_old = latest_ns is None or recording.written_ns < latest_ns
        if is_old and (keep is None or newer[recording.kind] > keep):
            chosen.append(recording)
    return chosen


def _say_kept(folder: Path, chosen: Counter[State], left: int) -> None:
    """Report why recordings that the options name are still there."""
    for state in (State.LIVE, State.OPEN, State.WAITING):
        if chosen[state]:
            say(f"{_text.count(chosen[state], 'recording')} kept: {state.value}")
    if chosen[State.OPEN] or chosen[State.WAITING]:
        say(
            f" hint: agentool-otel recover {shlex.quote(str(folder))} closes and sends what is left"
        )
    if left and not chosen.total():
        say(f"none of the {_text.count(left, 'recording')} there is named by the options")
