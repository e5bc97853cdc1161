"""`recover`: complete and send spans of dead processes in a folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import click

from agentool_otel.cli import _text
from agentool_otel.cli._output import say
from agentool_otel.cli._sent_to import say_next_steps
from agentool_otel.ground.environment import Signal, recordings_folder
from agentool_otel.ground.near_names import instead_of
from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
from agentool_otel.tracing.export.disk.recovery import complete_recordings, destinations
from agentool_otel.tracing.export.disk.resending import send_remains
from agentool_otel.tracing.export.disk.stored_texts import remove_partial_texts
from agentool_otel.tracing.export.otlp_variables import timeout_s
from agentool_otel.tracing.export.send.otlp import (
    Destination,
    OtlpTarget,
    Senders,
    target_from_environment,
)

__all__ = ["command", "recover"]


@click.command()
@click.argument("folder", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option(
    "--endpoint",
    help="OTLP endpoint for spans that were on their way to one; by default where they were going.",
)
def command(folder: Path | None, endpoint: str | None) -> int:
    """Close and re-send spans of a dead process.

    Spans that were open when their process died are closed as incomplete and appended to its
    recording, once. Spans that an OTLP endpoint had not taken are sent, with the ids they have.
    Headers, certificates and proxies of OTEL_EXPORTER_OTLP_* go to the endpoint that stands there
    or that you name, never to one that only a file names. Processes that live are left alone, and
    so is what this user's programs have not made here. DIR is the folder they recorded into, by
    default .agentool/ (AGENTOOL_DIR); programs do the same for one another when they start there.
    """
    usual = recordings_folder()
    folder = folder or usual
    if folder.name == usual.name and folder.parent.is_dir() and not os.path.lexists(folder):
        say(f"nothing to recover: there is no folder {folder}")  # its last program removed it
        return 0
    if not folder.is_dir():
        problem = f"{folder} is a file" if folder.exists() else f"there is no folder {folder}"
        say(problem, label="error:")
        hint = instead_of(folder, files=False) or "name the folder that the program recorded into"
        say(f" hint: {hint}")
        return 3
    target = None if endpoint is None else OtlpTarget.at(endpoint, os.environ)
    sent_to: dict[str, None] = {}
    done = recover(folder, target, sent_to=sent_to)
    if not done.had_work:
        say(f"nothing to recover in {folder}")
    for where in sent_to:
        say_next_steps(where)
    return 1 if done.incomplete else 0


class Recovered(NamedTuple):
    """The outcome of a recovery."""

    had_work: bool
    """Whether there was anything to recover."""
    incomplete: bool
    """Whether some spans could not be recovered and are still in their folder."""


def recover(
    folder: Path,
    target: OtlpTarget | None = None,
    own_destination: bool = False,
    sent_to: dict[str, None] | None = None,
) -> Recovered:
    """Recover a folder, and print a summary.

    Args:
        folder: the folder of the recordings.
        target: the endpoint to send to, instead of the original one of the spans.
        own_destination: send only spans for that endpoint, or for that of the environment. The
            programs that record in the folder report spans for other endpoints.
        sent_to: gains the endpoints that took spans, without those that only a file names.
    """
    survey = RecoveryReport(folder)
    remove_partial_texts(folder)
    closed = complete_recordings(folder, survey)
    if closed:
        say(f"{_text.count(closed, 'span')} closed as incomplete in {folder}")
    survey.elsewhere.clear()  # told apart below
    incomplete = False
    waiting = destinations(folder, survey)
    for destination in waiting:
        where = _target_for(destination, target, own_destination)
        if where is not None:
            reached = {} if sent_to is None else sent_to
            incomplete = _send(folder, destination, where, survey, reached) or incomplete
        elif not own_destination:
            survey.elsewhere[destination] = None
    for sentence in survey.sentences():
        say(_text.line(sentence), fg="yellow")
    not_read = survey.set_aside or survey.other_versions or survey.failed or survey.holds_back
    had_work = bool(closed or waiting or survey.left_alone or not_read)
    return Recovered(had_work, incomplete or bool(not_read))


def _send(
    folder: Path,
    destination: Destination,
    where: OtlpTarget,
    survey: RecoveryReport,
    sent_to: dict[str, None],
) -> bool:
    """Send the spans for a destination, and print a summary; return whether something remains."""
    senders = Senders(where)
    report = RecoveryReport(folder)
    try:
        done = send_remains(
            folder, destination, senders, timeout_s(), report, refused=True, persistent=True
        )
    finally:
        senders.close()
    survey.set_aside.update(report.set_aside)
    survey.other_versions.update(report.other_versions)
    survey.failed.update(report.failed)
    for number, name in ((done.sent, "span"), (done.logs, "log record")):
        if number:
            say(f"{_text.count(number, name)} sent to {where}")
    if done.sent and not where.bare:
        sent_to[str(where)] = None
    reason = _text.line(done.reason)
    if done.unreadable:
        say(f"{_text.count(done.unreadable, 'file')} cannot be read: {reason}", label="error:")
    if done.remaining or done.logs_remaining:
        both = (done.remaining, "span"), (done.logs_remaining, "log record")
        amounts = " and ".join(_text.count(number, name) for number, name in both if number)
        say(f"{where} did not take {amounts}: {reason}; kept in {folder}", label="error:")
        say(" hint: run this again when the endpoint responds, or name another with --endpoint")
        if where.bare:
            say(
                " hint: it was addressed without headers and certificates of the environment, which"
                f" were not set for it; --endpoint {destination.endpoint} sends them along"
            )
    return bool(done.unreadable or done.remaining or done.logs_remaining)


def _target_for(
    destination: Destination, target: OtlpTarget | None, own_destination: bool
) -> OtlpTarget | None:
    """Return the target for spans of a destination, None for nowhere.

    With credentials only if it was named on the command line or in the environment.
    """
    signal: Signal = "logs" if destination.signal == "logs" else "traces"
    ours = target or target_from_environment(os.environ, signal)
    if ours is not None and ours.destination == destination:
        return ours
    if own_destination:
        return None
    return target or OtlpTarget.noted(destination)
