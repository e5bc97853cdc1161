"""Sending what dead processes have left.

What was sent is noted in the journal of the process before what held it is removed, and after each
request: a recovery that fails, or is killed, is continued by the next one. A part that the receiver
does not take now does not keep the others from being sent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export.disk.left_spans import (
    Open,
    Refused,
    Source,
    Spooled,
    Unreadable,
)
from agentool_otel.tracing.export.disk.leftovers import (
    RECORDING,
    Leftovers,
    RecoveryReport,
    remains_in,
)
from agentool_otel.tracing.export.disk.spool import SUFFIXES
from agentool_otel.tracing.export.send.attempt import Answer, Sender
from agentool_otel.tracing.export.send.otlp import Destination, Senders, attempts

__all__ = ["Attempting", "Sent", "send_remains"]

_READ = 4 << 20
_MISSES = 3
"""Requests in a row that a receiver does not take now, after which it is left alone."""
_PAUSE_S = 0.2
_LONGEST_PAUSE_S = 5.0
_LONGEST_S = 60.0
"""Seconds that a slow receiver gets for a request at most."""


class Sent(NamedTuple):
    """Totals of a recovery that were delivered to a receiver."""

    sent: int = 0
    """Spans."""
    logs: int = 0
    """Log records."""
    remaining: int = 0
    """Spans that are still where they were."""
    logs_remaining: int = 0
    unreadable: int = 0
    """Files that cannot be read. What is in them stays there, and is not counted above."""
    reason: str = ""

    def and_one(self, done: dict[Signal, Outcome]) -> Sent:
        """Return this with what became of one process' signals."""
        spans, logs = done.get("traces", Outcome()), done["logs"]
        return Sent(
            self.sent + spans.sent,
            self.logs + logs.sent,
            self.remaining + spans.remaining,
            self.logs_remaining + logs.remaining,
            self.unreadable + spans.unreadable + logs.unreadable,
            self.reason or spans.reason or logs.reason,
        )


def send_remains(
    folder: Path,
    destination: Destination,
    senders: Senders,
    timeout_s: float,
    survey: RecoveryReport,
    deadline: float | None = None,
    refused: bool = False,
    persistent: bool = False,
) -> Sent:
    """Send what dead processes left for a destination, spans closed where they were open.

    Args:
        folder: where they left it.
        destination: only what was meant for it.
        senders: to the destination.
        timeout_s: of each attempt.
        survey: takes what is left alone, could not be done or waits for another receiver.
        deadline: by the monotonic clock, when all attempts are over.
        refused: also send again what the receiver has refused before.
        persistent: go on as long as the receiver takes some of it, and give it more time for a
            request than `timeout_s` where it needs that.
    """
    total = Sent()
    attempting = Attempting(timeout_s, deadline, persistent)
    for remains in remains_in(folder, survey):
        with survey.handling(remains):
            if remains.destination == destination:
                total = total.and_one(_send(remains, senders, attempting, refused, survey))
            elif remains.destination.address != RECORDING and remains.waiting:
                survey.elsewhere[remains.destination] = None
    return total


def _send(
    remains: Leftovers,
    senders: Senders,
    attempting: Attempting,
    refused: bool,
    survey: RecoveryReport,
) -> dict[Signal, Outcome]:
    """Send what one process left, log records beside spans, and tidy up what has arrived.

    Spans go before the log records, and nothing of them is left in the journal then: whatever
    becomes of the log records, no span is sent again.
    """
    done: dict[Signal, Outcome] = {}
    if remains.destination.signal == "traces":
        done["traces"] = _send_signal(remains, "traces", senders, attempting, refused, survey)
        if not done["traces"].waiting:
            remains.forget_spans()
    done["logs"] = _send_signal(remains, "logs", senders, attempting, refused, survey)
    if not any(one.waiting for one in done.values()):
        if any(os.path.lexists(remains.sibling(suffix.waiting)) for suffix in SUFFIXES.values()):
            return done  # of a signal that was not meant for this receiver
        if any(os.path.lexists(remains.sibling(suffix.refused)) for suffix in SUFFIXES.values()):
            remains.forget_spans()
        else:
            remains.retire(survey)
    return done


class Outcome(NamedTuple):
    """What became of one signal of one process."""

    sent: int = 0
    remaining: int = 0
    """Spans, or log records, that are still on disk."""
    reason: str = ""
    waiting: bool = False
    """Whether the files have to stay."""
    unreadable: bool = False


class Attempting:
    """How often and how long requests to a receiver are tried, for all that is sent to it.

    Args:
        timeout_s: of the first attempt.
        deadline: by the monotonic clock, when all attempts are over.
        persistent: try again what was not taken as long as something else is, and give a slow
            receiver more time.
    """

    def __init__(self, timeout_s: float, deadline: float | None, persistent: bool):
        self.timeout_s = timeout_s
        self.deadline = deadline
        self._is_persistent = persistent
        self._misses = 0
        self._is_unknown = False
        self._wait_s: float | None = None

    @property
    def is_over(self) -> bool:
        """Return whether the receiver, or the time, allows no further request."""
        if self.deadline is not None and time.monotonic() > self.deadline:
            return True
        return self._misses >= _MISSES or self._is_unknown or self._wait_s is not None

    def take(self, answer: Answer) -> None:
        """Note the answer to a request."""
        if answer.verdict != "later":
            self._misses = 0
            return
        self._misses += 1
        self._is_unknown = answer.unknown
        self._wait_s = answer.retry_after_s
        if answer.late and self._is_persistent:
            self.timeout_s = min(2 * self.timeout_s, max(_LONGEST_S, self.timeout_s))

    def again(self, number: int) -> bool:
        """Wait, and return whether what was left is to be tried again.

        Args:
            number: how often it was tried, each time with success for a part of it.
        """
        if not self._is_persistent or self._is_unknown:
            return False
        pause_s = min(_PAUSE_S * number, _LONGEST_PAUSE_S)
        if self._wait_s is not None:
            if self._wait_s > _LONGEST_PAUSE_S:
                return False
            pause_s = max(pause_s, self._wait_s)
        time.sleep(pause_s)
        self._misses, self._wait_s = 0, None
        return True


def _send_signal(
    remains: Leftovers,
    signal: Signal,
    senders: Senders,
    attempting: Attempting,
    refused: bool,
    survey: RecoveryReport,
) -> Outcome:
    """Send the spans, or log records, of a dead process, and remove the files that held them.

    Args:
        remains: what the process left. Nothing of these spans is in the journal afterwards, if all
            of them have arrived or are refused.
        signal: what is sent.
        senders: to the destination.
        attempting: how the receiver is tried.
        refused: also send again what the receiver has refused before.
        survey: takes damage.
    """
    waiting, separate = map(remains.sibling, SUFFIXES[signal])
    present = [path for path in (waiting, separate) if os.path.lexists(path)]
    if signal != "traces" and not present[: 2 if refused else 1]:
        return Outcome()
    with suppress(OSError):
        remains.died_ns = max(remains.died_ns, os.lstat(waiting).st_mtime_ns)
    sender = senders[signal]
    size = min(sender.limit, _READ)
    try:
        spooled = Spooled(remains, signal, waiting, size)
        again = Refused(separate, size) if refused and separate in present else None
        sources: list[Source] = [spooled, *([again] if again else [])]
        if signal == "traces":
            sources.append(Open(remains, spooled, size))
        also = remains.also if signal == "traces" else None
        sent, remaining, rejected, reason = _deliver(sources, sender, attempting, also, separate)
        if again is not None:
            again.rewrite()
    except Unreadable as error:
        return Outcome(0, 0, str(error), waiting=True, unreadable=True)
    except OSError as error:
        return Outcome(0, 0, error.strerror or str(error), waiting=True)
    if remaining:
        return Outcome(sent, remaining + rejected, reason, waiting=True)
    if signal == "traces":
        remains.note_ended(None)
    try:
        spooled.remove(survey)
    except OSError as error:
        return Outcome(sent, rejected, error.strerror or str(error), waiting=True)
    return Outcome(sent, rejected, reason)


def _deliver(
    sources: Sequence[Source],
    sender: Sender,
    attempting: Attempting,
    also: str | None,
    separate: Path,
) -> tuple[int, int, int, str]:
    """Send what is in some sources, again and again while that helps.

    Returns:
        the spans that have arrived, that remain, and that were refused, and why.
    """
    sent = rejected = passes = 0
    reason = ""
    while True:
        before = sent + rejected
        remaining = 0
        for source in sources:
            for batch in source.batches():
                if attempting.is_over:
                    remaining += len(batch)
                    source.postponed(batch)
                    continue
                timeout_s, deadline = attempting.timeout_s, attempting.deadline
                answers = attempts(sender, batch, timeout_s, also, deadline)
                last: Answer | None = None
                for part, answer in answers:
                    if answer is not last:  # one answer for all that was not tried any more
                        attempting.take(answer)
                    last = answer
                    if answer.verdict == "accepted" and not answer.rejected:
                        sent += len(part)
                        source.handled(part, arrived=True)
                        continue
                    reason = answer.reason
                    if answer.verdict == "later":
                        remaining += len(part)
                        source.postponed(part)
                    else:
                        rejected += len(part)
                        source.handled(part, arrived=False)
        passes += 1
        if not remaining or sent + rejected == before or not attempting.again(passes):
            return sent, remaining, rejected, reason
