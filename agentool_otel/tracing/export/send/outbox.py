"""Spans on their way to an OTLP receiver: spooled as they end, sent by a thread. Log records too.

The thread is started by the first span. An endpoint that is down, slow or full costs the program
nothing but the bounded end of `close`; what it has not taken then stays in the spool, and is sent
by the next process that sends there from the same folder, or by `agentool-otel recover`.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any

from opentelemetry.context import Context, attach, detach, get_current

from agentool_otel.ground import environment
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.untrusted_text import count_text, logger
from agentool_otel.otlp.protobuf_encoder import encode_log, encode_span
from agentool_otel.otlp.protobuf_parts import ProtobufParts
from agentool_otel.tracing.export.disk.files import RecordingDir, renew_after_fork
from agentool_otel.tracing.export.disk.gate import Gate
from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
from agentool_otel.tracing.export.disk.resending import send_remains
from agentool_otel.tracing.export.disk.spool import LARGEST, Remainder, Spool
from agentool_otel.tracing.export.incomplete import as_protobuf
from agentool_otel.tracing.export.otlp_variables import batch_size, delay_s, timeout_s
from agentool_otel.tracing.export.send.attempt import Answer, Sender
from agentool_otel.tracing.export.send.otlp import OtlpTarget, Senders, attempts, sender_of
from agentool_otel.tracing.spans.events import log_only_content
from agentool_otel.tracing.spans.settings import suppressing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan

    from agentool_otel.otlp.json_encoder import Line
    from agentool_otel.otlp.log_record import LogRecord
    from agentool_otel.tracing.export.disk.journal import Journal

__all__ = ["Outbox"]

_log = logger(__name__)

_BATCH = 4 << 20
"""Bytes per request: less than any receiver's limit, and little enough to hold several times."""
_FULL = 512 << 10
"""Waiting bytes at which a batch is sent before its time."""
_CUT = 4 << 20
"""Bytes in the spool that have been sent, at which they are removed."""
_FIRST_S = 0.2
"""Seconds until the first batch: a program that is killed in its first second sends something, and
what others like it have left."""
_BACKOFF_S = 60.0
_REST_S = 1.0
"""Seconds that `flush` waits for a thread which is ending and has nothing left to send."""
_PATIENCE_S = 10.0
"""Seconds of failure before an endpoint's error is logged: longer than a restart takes."""


_NAMES: dict[Signal, str] = {"traces": "span", "logs": "log record"}

_OUTBOXES: weakref.WeakSet[Outbox] = weakref.WeakSet()
"""Those of this process."""


class Outbox:
    """Keeps ended spans, or log records, until a receiver has taken them.

    Args:
        target: the receiver.
        place: where the spool is; None keeps spans in memory, up to a limit.
        journal: notes what has been sent; written anew before ended spans leave the spool.
        signal: what is sent.
        beside: it goes beside spans, on their account: what dead processes have left is sent with
            those, and nothing is kept for a receiver that has no place for it.
    """

    parts = ProtobufParts

    def __init__(
        self,
        target: OtlpTarget,
        place: RecordingDir | None,
        journal: Journal | None = None,
        signal: Signal = "traces",
        shares_journal: bool = False,
    ):
        self._target = target
        self._place = place
        self._journal = journal
        self._signal: Signal = signal
        self._beside = shares_journal
        self._noun = _NAMES[signal]
        self._name = f"{self._noun}s"
        self._encode: Callable[[Any], bytes] = encode_log if signal == "logs" else encode_span
        self._timeout_s = timeout_s(signal)
        # Made here, so that a mistake in the settings shows here.
        self._sender: Sender | None = sender_of(target, signal)
        self._limit = min(self._sender.limit, _BATCH)
        self._most = batch_size()
        self._delay_s = delay_s()
        self._first_delay_s = delay_s(_FIRST_S)
        self._reported_late = self._reported_unreadable = False
        self._resting = False
        self._begin()
        _OUTBOXES.add(self)
        renew_after_fork(self._forked)

    def _begin(self) -> None:
        self._gate = Gate() if self._journal is None else self._journal.gate
        self._sending = threading.Lock()
        self._wake = threading.Event()
        self._thread: threading.Thread | None = None
        self._spool = Spool(self._place, self._signal, self._gate)
        self.open = self._spool.open
        self.open.on_limit = self._on_limit
        self._closing_by: float | None = None
        self._closed = False
        self._given_up = False
        self._recovered = False
        self._failing_since: float | None = None
        self._backoff_s = 0.0
        self._not_before = 0.0
        self._has_retry_after = False
        self._reason = ""
        self._under_way = 0
        """Bytes of the spans that are being sent."""
        self.delivered = 0
        """Spans the receiver has accepted."""
        self._dropped = 0
        self.refused = 0
        """Spans the receiver does not take at all. They are kept beside the spool."""
        self._refused_so_far = 0
        """Those of them that a message has counted."""
        self._refusal = ""
        """Why the last ones were refused, empty before the first."""

    @property
    def spooled(self) -> int:
        """Spans that wait to be sent."""
        return self._spool.waiting

    @property
    def dropped(self) -> int:
        """Spans there was no room for, neither there nor on disk nor in memory, or whose file was
        deleted."""
        return self._dropped + self._spool.lost

    def put(self, item: ReadableSpan | LogRecord) -> None:
        """Take an ended span, or a log record of an outbox for those.

        On return it is on disk, if there is one that can be written.
        """
        self._put(self._encode(item), getattr(item, "end_time", None) or time.time_ns())

    def put_encoded(self, document: Line, now_ns: int) -> None:
        """Take an ended span as `ProtobufParts` encodes it, as `put` does."""
        self._put(b"".join(document), now_ns)

    def encoded(self, item: ReadableSpan | LogRecord) -> Line:
        """Return a span, or log record, as `put` encodes it."""
        return (self._encode(item),)

    def encoded_document(self, document: bytes) -> Line:
        """Return an OTLP/JSON document of one span as `put` encodes the span."""
        return (as_protobuf(document),)

    def put_again(self, document: Line, now_ns: int, start: int) -> bool:
        """Take a span whose `put` was interrupted, unless it was taken; return whether it was not.

        Args:
            document: its encoding.
            now_ns: when it ended.
            start: the size of the open file before that `put`, at most.
        """
        with self._gate.lock:
            if self._spool.holds(b"".join(document), start):
                return False
            self._put(b"".join(document), now_ns)
            return True

    def _put(self, encoded: bytes, now_ns: int) -> None:
        with self._gate.lock:
            if self._closed or not self._spool.put(encoded, now_ns):
                self._dropped += 1
                return
            if self._spool.has_forgotten and self._journal is not None:
                # Nothing tells any more that spans of the last file have ended. Whoever puts spans
                # has the lock of their journal.
                self._spool.has_forgotten = not self._journal.rewrite()
            if self._thread is None:
                self._start()
            self._on_limit()

    def _on_limit(self) -> None:
        """Wake the thread if the queue is large enough, and tell threads when to look again."""
        with self._gate.lock:
            is_full = self._is_full
            if is_full and not self._wake.is_set() and not self._waits():
                self._wake.set()
            is_offered = self._thread is not None and not self._closed and not self._spool.is_large
            self._spool.offer(is_offered, LARGEST if is_full else self._under_way + _FULL)

    @property
    def _is_full(self) -> bool:
        """Return whether the queue, without the batch in flight, is large enough to be sent now."""
        return self._spool.waiting_bytes - self._under_way > _FULL

    def flush(self, timeout_s: float) -> bool:
        """Send everything that waits; False if it was not taken in that time."""
        if not (self._has_retry_after and self._waits()):
            self._send_all(time.monotonic() + timeout_s)
        delivered = not self._spool.waiting
        if self._resting and delivered and (thread := self._thread) is not None:
            thread.join(_REST_S)
        return delivered

    def rest(self, resting: bool) -> None:
        """Have the thread end once the queue is empty, or stay for new spans.

        While it rests, whatever is put starts a thread for itself.
        """
        self._resting = resting
        if resting:
            self._wake.set()

    def close(self, timeout_s: float) -> None:
        """Send as much as possible in that time and keep the rest in the spool."""
        deadline = self._closing_by = time.monotonic() + timeout_s
        if self._spool.waiting or self._leftovers_likely():
            if self._thread is None:
                self._start()
            self._wake.set()
            if (thread := self._thread) is not None:
                thread.join(max(0.0, deadline - time.monotonic()))
            else:  # the interpreter starts no more threads at its end
                self._last_pass(deadline)
        self._closed = True
        with self._gate.alone():
            self._spool.save()
            self._report_at_end()
            if self._journal is not None and self._signal == "traces":
                # While the journal has spans that were sent, only the spool shows that they ended.
                self._journal.forget_ended()
            self._spool.close()
        self._hang_up()

    @property
    def reason(self) -> str:
        """Why the receiver did not take the last spans that it did not take, "" for none."""
        return self._reason or self._refusal

    def _hang_up(self) -> None:
        """End the connection, unless an attempt is under way: that is over by its own deadline, and
        a connection that is being read cannot be closed before."""
        if self._sending.acquire(blocking=False):
            try:
                if self._sender is not None:
                    self._sender.close()
            finally:
                self._sending.release()

    # -------------------------------------------------------------------------------- the thread

    def _start(self) -> None:
        thread = threading.Thread(target=self._run, name="agentool-otel-export", daemon=True)
        token = attach(Context())  # the thread keeps no context of the program alive
        try:
            thread.start()
        except RuntimeError:  # at the end of the interpreter
            return
        finally:
            detach(token)
        self._thread = thread

    def _run(self) -> None:
        attach(suppressing(get_current()))
        while not self._closing:
            usual_s = self._delay_s if self._recovered else self._first_delay_s
            rest_s = max(usual_s, self._not_before - time.monotonic())
            if self._wake.wait(rest_s) and not self._closing and self._waits():
                self._wake.clear()  # full, but the receiver wants to be left alone
                continue
            self._wake.clear()
            if not self._closing and self._send_all(None) and not self._recovered:
                self._recover(None)
            if self._resting and not self._closing and self._may_stop():
                return
        self._last_pass(self._closing_by)
        self._hang_up()

    def _may_stop(self) -> bool:
        """Return whether the thread may end: the queue is empty, and new spans start another
        thread.
        """
        with self._gate.alone() as alone:
            if not alone or self._spool.waiting:
                return False
            self._spool.offer(False, 0)
            self._thread = None
            return True

    @property
    def _closing(self) -> bool:
        return self._closing_by is not None

    def _waits(self) -> bool:
        return time.monotonic() < self._not_before

    def _last_pass(self, deadline: float | None) -> None:
        if self._has_retry_after and self._waits():
            return
        if self._send_all(deadline):
            self._recover(deadline)

    def _send_all(self, deadline: float | None) -> bool:
        """Send the queue; False once the receiver does not accept it.

        Without a deadline, what comes meanwhile waits for the next pass unless it is much: else a
        busy program would send a request for every few spans.
        """
        wait_s = -1 if deadline is None else max(0.0, deadline - time.monotonic())
        if not self._sending.acquire(timeout=wait_s):
            return False
        token = attach(suppressing(get_current()))
        try:
            left = self._spool.waiting
            while batch := self._next():
                self._under_way = sum(map(len, batch))
                if not self._send(batch, deadline):
                    return False
                self._under_way = 0
                self._truncate()
                left -= len(batch)
                if deadline is None and left <= 0 and not self._is_full:
                    break
            return True
        finally:
            self._under_way = 0
            detach(token)
            self._sending.release()

    def _next(self) -> list[bytes]:
        with self._gate.lock:
            try:
                self._spool.look()
                batch = self._spool.next(self._limit, self._most)
                self._report_damage()
                return batch
            except OSError as error:
                let_through(error)
                lost = -self._spool.lost
                path = self._spool.skip()
                lost += self._spool.lost
                why = error.strerror or error
                _log.error("%s cannot be read (%s): %d %s are lost", path, why, lost, self._name)
                return self._spool.next(self._limit, self._most)

    def _report_damage(self) -> None:
        for start, end, _ in self._spool.damage:
            _log.error(
                "%s is damaged from byte %d to %d: %s there are lost",
                self._spool.path,
                start,
                end,
                self._name,
            )
        self._spool.damage.clear()

    def _send(self, batch: list[bytes], deadline: float | None) -> bool:
        if deadline is not None and time.monotonic() > deadline:
            return False
        if self._sender is None:
            self._sender = sender_of(self._target, self._signal)
        also = self._target.also if self._signal == "traces" else None
        for part, answer in attempts(self._sender, batch, self._timeout_s, also, deadline):
            if answer.verdict == "later":
                if answer.unknown and self._beside:
                    self._give_up(answer)
                else:
                    self._postpone(answer)
                return False
            with self._gate.lock:
                self._count(list(part), answer)
                self._spool.done(part)
                self._on_limit()
                mark = self._spool.sent_mark
            if self._journal is not None and mark is not None:
                self._journal.sent(self._signal, mark)
        self._failing_since, self._backoff_s, self._not_before = None, 0.0, 0.0
        return True

    def _count(self, part: list[bytes], answer: Answer) -> None:
        rejected = min(max(0, answer.rejected), len(part))  # a receiver may answer anything
        lost = rejected if answer.verdict == "accepted" else len(part)
        self.delivered += len(part) - lost
        if not lost:
            return
        # OTLP does not say which spans of an accepted request were rejected: all of them are kept.
        is_kept = self._spool.refuse(part)
        self.refused += lost if is_kept else 0
        self._dropped += 0 if is_kept else lost
        first, self._refusal = not self._refusal, answer.reason or "refused"
        if first:
            self._report_refusal(lost, is_kept)

    def _report_refusal(self, lost: int, is_kept: bool) -> None:
        """Log the first refusal; `_report_at_end` has the sum."""
        where = "lost"
        if is_kept and self._place is not None:
            self._refused_so_far = lost
            where = f"{'it is' if lost == 1 else 'they are'} kept in {self._place.folder}"
        amount = count_text(lost, self._noun)
        _log.error("%s refused %s (%s): %s", self._target, amount, self._refusal, where)

    def _postpone(self, answer: Answer) -> None:
        now = time.monotonic()
        self._reason = answer.reason
        self._has_retry_after = answer.retry_after_s is not None
        self._backoff_s = min(_BACKOFF_S, 2 * self._backoff_s or self._delay_s)
        self._not_before = now + (answer.retry_after_s or self._backoff_s)
        if self._failing_since is None:
            self._failing_since = now
        elif now - self._failing_since > _PATIENCE_S and not self._reported_late:
            self._reported_late = True
            _log.warning(
                "%s cannot be delivered to %s at present (%s); they wait %s",
                self._name,
                self._target,
                answer.reason,
                f"in {self._place.folder}" if self._place else "in memory",
            )

    def _give_up(self, answer: Answer) -> None:
        """Keep nothing for a receiver that has no place for it, as Jaeger has none for logs."""
        with self._gate.lock:
            self._closed = self._given_up = True
            self._spool.give_up()
        lost, hint = "", f"{environment.exporter_variable(self._signal)}=none makes none"
        if self._signal == "logs" and (content := log_only_content()) is not None:
            lost = f", and with them {content.what}"
            hint = f"{content.instead} keeps that on spans"
        _log.warning(
            "%s takes no %s (%s): they are dropped%s; hint: %s",
            self._target,
            self._name,
            answer.reason,
            lost,
            hint,
        )

    def _truncate(self) -> None:
        """Remove sent spans from disk once they are many, and from the journal first.

        What waits is copied into a new file without the lock, but for its end: no call of the
        program waits long. A cut takes less than what was sent since the last one.
        """
        spool = self._spool
        if spool.sent_bytes < max(_CUT, spool.waiting_bytes):
            return
        remainder: Remainder | None = None
        try:
            with self._gate.lock:
                if spool.waiting_bytes:
                    remainder = spool.remainder()
            while remainder is not None and remainder.left > _FULL:
                remainder.copy(_FULL)
            with self._gate.alone() as alone:
                if alone and self._forgets_sent():
                    spool.remove_sent(remainder)
                    self._on_limit()
        except OSError as error:
            let_through(error)  # others: there is no room, and the next cut may find some
        finally:
            if remainder is not None:
                remainder.drop()

    def _forgets_sent(self) -> bool:
        """Write the journal anew, without the spans that have been sent; False if that is not
        possible, or takes more than what was sent."""
        if self._journal is None or self._signal != "traces":
            return True
        return self._journal.size <= self._spool.sent_bytes and self._journal.rewrite()

    # ------------------------------------------------------------------------------------ the end

    def _leftovers_likely(self) -> bool:
        """Return whether the folder has journals, perhaps of processes that have died."""
        return (
            not self._beside and self._place is not None and any(self._place.folder.glob("*.open"))
        )

    def _recover(self, deadline: float | None) -> None:
        """Send spans of dead processes for the same receiver. An error in this never stops the
        sending of this process's spans.
        """
        self._recovered = True
        if self._place is None or self._sender is None or self._beside:
            return
        try:
            self._send_remains(self._place.folder, self._sender, deadline)
        except Exception as error:
            let_through(error)
            _log.warning(
                "leftovers of earlier processes in %s could not be sent (%s)",
                self._place.folder,
                type(error).__name__,
            )
            _log.debug("details", exc_info=error)

    def _send_remains(self, folder: Path, own_sender: Sender, deadline: float | None) -> None:
        senders = Senders(self._target)
        senders[self._signal] = own_sender
        survey = RecoveryReport(folder)
        where = self._target.destination
        with self._sending:
            remains = send_remains(folder, where, senders, self._timeout_s, survey, deadline)
        for outbox in list(_OUTBOXES):  # what waits for one of them is sent by that one
            survey.elsewhere.pop(outbox._target.destination, None)
        survey.log()
        for signal, sender in senders.items():
            if signal != self._signal:
                sender.close()
        if remains.unreadable and not self._reported_unreadable:
            self._reported_unreadable = True
            _log.warning(
                "not all that earlier processes have left can be read (%s); unreadable files, %d, "
                "are left as they are",
                remains.reason,
                remains.unreadable,
            )
        if sent := remains.sent or remains.logs:
            amount = count_text(sent, _NAMES["traces" if remains.sent else "logs"])
            _log.info("%s of earlier processes sent to %s", amount, self._target)

    def _report_at_end(self) -> None:
        if self._given_up:
            return
        is_summed_up = self._signal == "traces" and environment.run_sums_up()
        level = logging.INFO if is_summed_up else logging.ERROR
        if self.refused > self._refused_so_far and self._place is not None:
            _log.log(
                level,
                "%s were refused by %s (%s) and are kept in %s; `agentool-otel recover` sends them",
                count_text(self.refused, self._noun),
                self._target,
                self._refusal,
                self._place.folder,
            )
        waiting = self._spool.waiting
        if not waiting and not self.dropped:
            return
        suffix = ""
        if waiting and self._place is not None:
            verb = "is" if waiting == 1 else "are"
            suffix = (
                f"; {waiting} {verb} kept in {self._place.folder} and sent by the next process "
                "that sends there, or by `agentool-otel recover`"
            )
        lost = f"; {_were(self.dropped)} lost" if self.dropped else ""
        _log.log(
            level,
            "%s could not be delivered to %s (%s)%s%s; %s delivered",
            self._name,
            self._target,
            self.reason or "no answer in time",
            suffix,
            lost,
            _were(self.delivered),
        )

    def _forked(self) -> None:
        """Start empty in a child: thread, connection and queue belong to the parent."""
        self._spool.abandon()
        self._sender = None
        self._reported_late = self._reported_unreadable = False
        self._begin()


def _were(number: int) -> str:
    return f"{number} {'was' if number == 1 else 'were'}"
