"""`recover`: bring what dead processes left in a folder to where it belongs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import click

from agentool_otel.cli import _text
from agentool_otel.cli._output import say
from agentool_otel.export.otlp import (
    Destination,
    OtlpTarget,
    Senders,
    target_from_environment,
)
from agentool_otel.export.recovery import complete_recordings, destinations, send_remains
from agentool_otel.export.variables import timeout_s

__all__ = ["command", "recover"]


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--endpoint",
    help="OTLP endpoint for spans that were on their way to one; by default where they were going.",
)
def command(folder: Path | None, endpoint: str | None) -> int:
    """Close and re-send what a dead process left.

    Spans that were open when their process died are closed as incomplete and appended to its
    recording, once. Spans that an OTLP endpoint had not taken are sent, with the ids they have.
    Processes that live are left alone. DIR is the folder they recorded into, by default .agentool/
    (AGENTOOL_DIR); programs do the same for one another when they start there.
    """
    folder = folder or Path(os.environ.get("AGENTOOL_DIR") or ".agentool")
    if not folder.is_dir():
        say(f"error: there is no folder {folder}")
        say(" hint: name the folder that the program recorded into")
        return 3
    target = None
    if endpoint is not None:
        target = OtlpTarget.at(endpoint, os.environ)
    done = recover(folder, target)
    if not done.found:
        say(f"nothing to recover in {folder}")
    return 1 if done.left else 0


class Recovered(NamedTuple):
    """What came of a recovery."""

    found: bool
    """Whether there was anything to recover."""
    left: bool
    """Whether something is still where it was."""


def recover(folder: Path, target: OtlpTarget | None = None) -> Recovered:
    """Do it, and say what was done.

    Args:
        folder: where the processes wrote.
        target: where to send, instead of where the spans were going.
    """
    closed = complete_recordings(folder)
    if closed:
        say(f"{_text.count(closed, 'span')} closed as incomplete in {folder}")
    found, left = bool(closed), False
    for destination in destinations(folder):
        found = True
        where = target or _target_of(destination)
        senders = Senders(where)
        try:
            done = send_remains(folder, destination, senders, timeout_s(), refused=True)
        finally:
            senders.close()
        for number, name in ((done.sent, "span"), (done.logs, "log record")):
            if number:
                say(f"{_text.count(number, name)} sent to {where}")
        if done.unreadable:
            label = click.style("error:", fg="red", bold=True)
            say(f"{label} {_text.count(done.unreadable, 'file')} cannot be read: {done.reason}")
            left = True
        if done.left or done.logs_left:
            label = click.style("error:", fg="red", bold=True)
            both = (done.left, "span"), (done.logs_left, "log record")
            what = " and ".join(_text.count(number, name) for number, name in both if number)
            say(f"{label} {where} did not take {what}: {done.reason}; kept in {folder}")
            say(" hint: run this again when it does, or name another with --endpoint")
            left = True
    return Recovered(found, left)


def _target_of(destination: Destination) -> OtlpTarget:
    """Return where it was going, with this process' settings if it sends there, too."""
    ours = target_from_environment(os.environ, "logs" if destination.signal == "logs" else "traces")
    if ours is not None and ours.destination == destination:
        return ours
    return OtlpTarget.noted(destination)
