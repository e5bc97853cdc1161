"""`clean`: remove old recordings."""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

import click

from agentool_otel.cli import _text
from agentool_otel.cli._demo_folders import demo_folders, is_demo_folder
from agentool_otel.cli._output import say
from agentool_otel.cli._param_types import IntType
from agentool_otel.errors import SourceDenied, SourceUnreachable
from agentool_otel.ground.durations import parse_duration
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.ground.near_names import instead_of
from agentool_otel.ground.ownership import why_untrusted
from agentool_otel.ground.private_folders import remove_private_folder
from agentool_otel.ground.urls import printable_place
from agentool_otel.tracing.export.disk.removal import (
    Recording,
    State,
    recordings_in,
    remove,
    unreferenced_texts,
)
from agentool_otel.tracing.export.disk.stored_texts import TEXTS

if TYPE_CHECKING:
    from agentool_otel.tracing.export.disk.unsent import Unsent

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
    "--keep",
    type=click.IntRange(min=0),
    metavar="N",
    help="Leave the N recordings that were begun last.",
)
@click.option(
    "--unsent",
    metavar="ENDPOINT",
    help="Remove what dead programs could not send to this endpoint, and no recording.",
)
@click.option("-y", "--yes", is_flag=True, help="Remove without confirmation, for scripts.")
@click.option(
    "--dry-run", is_flag=True, help="List the files that would be removed, and remove nothing."
)
def command(
    folder: Path | None,
    older: int | None,
    keep: int | None,
    unsent: str | None,
    yes: bool,
    dry_run: bool,
) -> int:
    """Remove recordings: all of them, or those that the options name.

    A recording is the file, or the files, of one program in DIR, by default .agentool/
    (AGENTOOL_DIR), or in a folder that `demo` made there. Results of `eval --write-back` are
    recordings too, and count for --keep. Large texts are removed with the last recording that
    refers to them.

    The command prints the number and the size of the recordings in each folder, and asks for
    confirmation. Without a terminal it needs --yes. --dry-run lists every file.

    Recordings of running programs stay, and so do those of killed programs until `recover` has
    closed them. Whether a program on another host is running is not always known: its recording
    stays for 24 hours after its last span.

    Spans and log records that wait to be sent are removed by --unsent alone, with those that the
    endpoint has refused. Those of running programs stay.
    """
    folder = folder or recordings_folder()
    if unsent is not None:
        if older is not None or keep is not None:
            raise click.UsageError("--unsent removes no recordings: leave out --older and --keep")
        return _remove_unsent(folder, unsent, yes, dry_run)
    recordings = _recordings(folder)
    chosen = _chosen(recordings, older, keep)
    finished = [recording for recording in chosen if recording.state is State.FINISHED]
    texts = _texts_of(finished) if _is_idle(recordings) else []
    if dry_run:
        for path in [*(file for item in finished for file in item.files), *texts]:
            click.echo(str(path))
    elif finished and not yes:
        _list(finished, texts)
        if not _is_confirmed(f"{_count(finished)}, {_size(finished, texts)}"):
            say("nothing removed")
            return 1
    amount = f", {_size(finished, texts)}" if finished else ""
    removed = finished if dry_run else _remove(folder, finished, texts)
    if len(removed) < len(finished):
        amount = ""  # programs have started meanwhile
    say(f"{_count(removed)} {'would be ' if dry_run else ''}removed from {folder}{amount}")
    _say_kept(chosen, len(recordings) - len(removed))
    return 0


def _check_folder(folder: Path) -> None:
    """Check that a folder is there.

    Raises:
        SourceUnreachable: there is no such folder.
    """
    if not folder.is_dir():
        if folder.exists():
            raise SourceUnreachable(f"{folder} is a file; hint: name the folder that it is in")
        hint = instead_of(folder, files=False) or "name the folder that programs recorded into"
        raise SourceUnreachable(f"there is no folder {folder}; hint: {hint}")


def _recordings(folder: Path) -> list[Recording]:
    """Return the recordings in a folder and in the folders of demos there, the newest first.

    Raises:
        SourceUnreachable: there is no such folder.
        SourceDenied: it may not be read, or others may exchange files in it.
    """
    _check_folder(folder)
    recordings: list[Recording] = []
    try:
        for inner in [folder, *demo_folders(folder)]:
            if (why := why_untrusted(inner)) is not None:
                raise SourceDenied(
                    f"nothing is removed from {inner}: {why}; hint: ls -ld {quote(str(inner))} "
                    "shows whose it is"
                )
            recordings += recordings_in(inner)
    except OSError as error:
        where = error.filename or folder
        raise SourceDenied(f"{where} may not be read: {error.strerror or error}") from error
    return sorted(
        recordings, key=lambda recording: (recording.started_ns, recording.path), reverse=True
    )


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


def _is_idle(recordings: Sequence[Recording]) -> bool:
    """Return whether no program is running that may refer to a text once more."""
    return all(recording.state not in (State.LIVE, State.ELSEWHERE) for recording in recordings)


def _texts_of(recordings: Sequence[Recording]) -> list[Path]:
    """Return the stored texts that only these recordings refer to."""
    folders = sorted({recording.path.parent for recording in recordings})
    return [text for folder in folders for text in unreferenced_texts(folder, recordings)]


# ---------------------------------------------------------------------------------- asking


def _count(recordings: Sequence[Recording]) -> str:
    return _text.count(len(recordings), "recording")


def _size(recordings: Sequence[Recording], texts: Sequence[Path]) -> str:
    size = sum(recording.size for recording in recordings) + sum(
        path.stat().st_size for path in texts
    )
    return _text.size(size)


def _list(recordings: Sequence[Recording], texts: Sequence[Path]) -> None:
    """List the folders, with the number and the size of the files to remove from each."""
    for folder in sorted({recording.path.parent for recording in recordings}):
        in_folder = [recording for recording in recordings if recording.path.parent == folder]
        own_texts = [text for text in texts if text.parent.parent == folder]
        say(f"{_count(in_folder)} in {folder}, {_size(in_folder, own_texts)}")


def _is_confirmed(amount: str) -> bool:
    """Return whether the user confirms the removal.

    Raises:
        UsageError: there is no terminal, so nobody can answer.
    """
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"nothing removed: without a terminal, removing {amount} needs --yes"
            "; hint: --dry-run lists every file"
        )
    return click.confirm(f"Remove {amount}?", err=True)


# --------------------------------------------------------------------------------- removing


def _remove(folder: Path, finished: Sequence[Recording], texts: Sequence[Path]) -> list[Recording]:
    """Remove recordings, their texts, and folders of demos that are empty then."""
    removed = remove(finished)
    if len(removed) == len(finished) and _is_idle(_recordings(folder)):
        for path in texts:
            path.unlink(missing_ok=True)
    for inner in {item.path.parent for item in removed}:
        if is_demo_folder(inner):
            with suppress(OSError):
                (inner / TEXTS).rmdir()
            remove_private_folder(inner)
    return removed


def _say_kept(chosen: Sequence[Recording], left: int) -> None:
    """Report why recordings that the options name are still there."""
    states = Counter(recording.state for recording in chosen)
    for state in State:
        if state is not State.FINISHED and states[state]:
            say(f"{_text.count(states[state], 'recording')} kept: {state.value}")
    unfinished = (State.OPEN, State.WAITING)
    for folder in sorted(
        {recording.path.parent for recording in chosen if recording.state in unfinished}
    ):
        say(f" hint: agentool-otel recover {quote(str(folder))} recovers the rest")
    if left and not chosen:
        say(f"none of the {_text.count(left, 'recording')} there is named by the options")


# ----------------------------------------------------------------------------------- unsent


def _remove_unsent(folder: Path, endpoint: str, yes: bool, dry_run: bool) -> int:
    """Remove what waits to be sent to an endpoint, and print how much that was.

    Raises:
        SourceUnreachable: there is no such folder.
        ConfigurationError: the endpoint is not a URL.
    """
    from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
    from agentool_otel.tracing.export.disk.unsent import others_waiting, unsent_in
    from agentool_otel.tracing.export.send.otlp import OtlpTarget

    _check_folder(folder)
    address = OtlpTarget.at(endpoint, os.environ).destination.address
    report = RecoveryReport(folder)
    waiting = unsent_in(folder, address, report)
    amount = _unsent_amount(waiting)
    if dry_run:
        for item in waiting:
            for path in item.files:
                click.echo(str(path))
    elif waiting and not yes:
        say(f"{amount} for {printable_place(endpoint)} in {folder}")
        if not _is_confirmed(amount):
            say("nothing removed")
            return 1
    if not dry_run:
        amount = _unsent_amount(unsent_in(folder, address, report, discard=True))
        remove_private_folder(folder)
    say(f"{amount} {'would be ' if dry_run else ''}removed from {folder}")
    if not waiting:
        for other in others_waiting(folder):
            say(f" hint: spans wait there for {_text.line(other)}")
    for sentence in report.sentences():
        say(_text.line(sentence), fg="yellow")
    return 1 if report.failed else 0


def _unsent_amount(waiting: Sequence[Unsent]) -> str:
    """Return the numbers of spans and log records, in words."""
    spans = sum(item.spans for item in waiting)
    logs = sum(item.logs for item in waiting)
    words = _text.count(spans, "span")
    return f"{words} and {_text.count(logs, 'log record')}" if logs else words
