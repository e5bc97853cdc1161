"""The pipeline that `instrument()` puts behind a tracer provider.

    span ─▶ stages ─▶ journal (as it starts; ours once its arguments or input are set)
                   └▶ store   (as it ends): a recording, an outbox, or another SDK exporter
    log record ─▶ log stages ─▶ log store: the same recording, an outbox of its own, or the console

When a span's `end()` returns, the store has it where the death of the process does not reach it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from threading import get_ident
from typing import TYPE_CHECKING

from opentelemetry.context import Context
from opentelemetry.sdk.trace import ReadableSpan, Span, SpanProcessor
from opentelemetry.sdk.trace.export import SpanExporter

from agentool_otel.ground import environment
from agentool_otel.ground.counters import Counter
from agentool_otel.ground.interruptions import insist, is_interruption, let_through
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.tracing.export.batched import Batched
from agentool_otel.tracing.export.direct import DirectWriter
from agentool_otel.tracing.export.disk import leftovers, recovery
from agentool_otel.tracing.export.disk.files import RecordingDir, renew_after_fork
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.disk.limits import NO_LIMITS, Limits
from agentool_otel.tracing.export.disk.recording import RecordedLogs, RecordingExporter
from agentool_otel.tracing.export.incomplete import close_document, close_span
from agentool_otel.tracing.export.log_destination import LogDestination
from agentool_otel.tracing.export.masking.logs import mask_log
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from agentool_otel.tracing.export.sinks import (
    CLOSING_S,
    NO_COUNTS,
    DirectStore,
    Store,
    Threaded,
    add_counts,
    counts_of,
    reason_of,
)
from agentool_otel.tracing.spans.settings import SCOPE, settings

if TYPE_CHECKING:
    from agentool_otel.otlp.json_encoder import Line
    from agentool_otel.otlp.log_record import LogRecord
    from agentool_otel.tracing.export.disk.gate import Gate
    from agentool_otel.tracing.export.disk.rotation import Rotation

__all__ = ["LogStage", "Pipeline", "Stage", "masked_pipeline"]

_log = logger(__name__)

Stage = Callable[[ReadableSpan], ReadableSpan]
"""Returns what may leave of a span: the span itself, or a changed copy."""

LogStage = Callable[["LogRecord"], "LogRecord"]
"""The same of a log record."""

_LOOK_NS = 50_000_000

_Put = tuple[DirectStore, "Line", int, int, int, bool]
"""A span that is being put away: where, its encoding, when it ended, its id, the size of the open
file before that, at most, and whether it has been counted."""


class Pipeline(SpanProcessor):
    """Takes spans to the store in force; without one they go nowhere."""

    def __init__(self) -> None:
        self.stages: list[Stage] = []
        """Stages that every span passes before it is written, in order."""
        self.log_stages: list[LogStage] = []
        self._ended = Counter()
        """Spans that have ended, but for those that were appended to the open file of a store."""
        self.at_first: Callable[[], None] | None = None
        """Called once, when the first span starts."""
        self.store: Store | None = None
        self._logs = LogDestination()
        self.target: OtlpTarget | None = None
        """Endpoint for spans; None if they are not sent."""
        self._journal: Journal | None = None
        self._rotation: Rotation | None = None
        self._limits = NO_LIMITS
        self._place: RecordingDir | None = None
        self.undescribed: dict[int, Span] = {}
        """Spans of ours that have started and do not hold yet what is known of them."""
        self.look_ns = 0
        """When to look next whether the files are still there."""
        self._paused_ns: int | None = None
        """Since when nothing new is taken, None while it is."""
        self._strict = environment.strict()
        self._failed = False
        self._before = NO_COUNTS
        self._taken_before = 0
        self._reason_before = ""
        renew_after_fork(self._forked)

    # ------------------------------------------------------------------------- where spans go

    def limit(self, limits: Limits) -> None:
        """Keep the folder that is recorded into below some limits, from here on."""
        if limits != self._limits:
            self._limits = limits
            self._begin_rotation()

    def record(self, folder: str | os.PathLike[str], journal: bool = True) -> None:
        """Record into a folder. Spans that dead processes left open there are closed."""
        still_open = self._leave()
        place = RecordingDir(folder)
        store = RecordingExporter(place)
        if not journal:
            self.store = Batched(store, delay_ms=500)
            self._begin_rotation()
            return
        _complete_recordings(place)
        self._place, self.store = place, store
        self._journal = Journal(
            place,
            leftovers.RECORDING,
            gate=store.gate,
            ended_up_to=store.end,
            part=lambda: store.part,
        )
        self._begin_rotation()
        self._reopen(still_open)

    def send(self, target: OtlpTarget, folder: str | os.PathLike[str] | None) -> None:
        """Send to an OTLP receiver; None for the folder keeps the queue in memory only."""
        from agentool_otel.tracing.export.send.outbox import Outbox

        still_open = self._leave()
        self.target = target
        if folder is None:
            self.store = Outbox(target, None)
            return
        place = RecordingDir(folder)
        journal = Journal(place, *target.destination, also=target.also)
        store = Outbox(target, place, journal)
        self._place, self.store = place, store
        self._journal = journal
        self._reopen(still_open)

    def export_to(self, exporter: SpanExporter | None) -> None:
        """Hand spans to any SDK exporter in batches, or to nobody."""
        self._leave()
        self.store = None if exporter is None else Batched(exporter)

    def record_logs(self) -> None:
        """Record log records where spans are recorded."""
        recording = self._recording()
        assert recording is not None
        self._logs.change(RecordedLogs(recording), self._journal)

    def send_logs(self, target: OtlpTarget, folder: str | os.PathLike[str] | None = None) -> None:
        """Send log records to an OTLP receiver.

        Where that is the receiver of the spans, they wait on disk beside them, and are recovered
        with them. Elsewhere they wait in files of their own.

        Args:
            target: the receiver.
            folder: where they wait; None keeps them in memory, unless spans wait on disk for the
                same receiver.
        """
        from agentool_otel.tracing.export.send.outbox import Outbox

        if target is self.target:
            store = Outbox(target, self._place, self._journal, signal="logs", shares_journal=True)
            self._logs.change(store, self._journal)
        elif folder is None:
            self._logs.change(Outbox(target, None, signal="logs"))
        else:
            place = RecordingDir(folder, "logs")
            journal = Journal(place, *target.destination)
            self._logs.change(Outbox(target, place, journal, signal="logs"), journal, place)

    def print_logs(self) -> None:
        """Print log records."""
        from agentool_otel.tracing.export.console import PrintedLogs

        self._logs.change(PrintedLogs())

    def leave_logs(self) -> None:
        """Bring log records where they belong and take no more of them."""
        self._logs.change(None)

    def pause(self) -> None:
        """Take no spans that start from here on, and no log records but ours of spans still open.

        Spans that have started by now are kept when they end, and threads of the stores end as soon
        as nothing waits for them. Other processors of the same provider notice nothing.
        """
        self._paused_ns = time.time_ns()
        self._set_resting(True)

    def resume(self) -> None:
        """Take everything again."""
        self._paused_ns = None
        self._set_resting(False)

    def _set_resting(self, resting: bool) -> None:
        stores: tuple[object, ...] = (self.store, self._logs.store)
        for store in stores:
            if isinstance(store, Threaded):
                store.rest(resting)

    @property
    def takes_logs(self) -> bool:
        """Return whether there is a store for log records."""
        return self._logs.store is not None

    def takes_logs_of(self, scope: str) -> bool:
        """Return whether log records of an instrumentation scope are kept at present.

        While nothing new is taken those of our own scopes are: they belong to spans still open.
        """
        accepted = self._paused_ns is None or scope.startswith(SCOPE)
        return accepted and self._logs.store is not None

    @property
    def records(self) -> bool:
        """Return whether spans are recorded."""
        return self._recording() is not None

    def _recording(self) -> RecordingExporter | None:
        store = self.store
        exporter = store.exporter if isinstance(store, Batched) else store
        return exporter if isinstance(exporter, RecordingExporter) else None

    @property
    def recording(self) -> str | None:
        """The file this process records into, None before its first span."""
        path = getattr(self.store, "path", None)
        return None if path is None else str(path)

    def counts(self) -> dict[str, int]:
        """Return how many spans were made here and where they are by now.

        `created` have ended; of these `exported` were recorded or accepted by the receiver,
        `spooled` wait for it, `refused` are kept apart because it does not take them, and `dropped`
        are lost.
        """
        store = self.store
        taken = store.open.taken.value if isinstance(store, DirectStore) else 0
        created = self._ended.value + self._taken_before + taken
        return {"created": created, **add_counts(counts_of(store), self._before)}

    @property
    def reason(self) -> str:
        """Why a receiver did not take spans, "" where each took all."""
        return reason_of(self.store) or self._reason_before

    def log_counts(self) -> dict[str, int]:
        """Return the same of log records, `created` being those that were emitted."""
        return self._logs.counts()

    @property
    def keeps_open(self) -> bool:
        """Return whether open spans survive the process, so that updates of them are worth
        writing.
        """
        return self._journal is not None

    def direct_writer(self, masking: Masking) -> DirectWriter | None:
        """Return what writes our own spans the short way; None where all take the SDK's.

        Args:
            masking: the stage that our own spans may pass by.
        """
        store, journal = self.store, self._journal
        if journal is None or self._paused_ns is not None or self.stages != [masking]:
            return None
        policy = settings.policy
        if policy.redact is not None or not policy.on_spans or policy.in_events:
            return None
        if not isinstance(store, DirectStore):
            return None
        return DirectWriter(self, journal, store, masking)

    # ------------------------------------------------------------------------- span processor

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        if self._paused_ns is not None:
            return
        journal = self._journal
        try:
            self.begin()
            if journal is not None and span.get_span_context().trace_flags.sampled:
                scope = span.instrumentation_scope
                if scope is not None and settings.starts(scope.name):
                    self.undescribed[span.get_span_context().span_id] = span
                else:
                    journal.started(span, self._apply_stages(span))
        except Exception as error:  # the call that is traced here must not feel it
            self.log_internal_error(error)

    def begin(self) -> None:
        """Start the store once, when there is something to keep."""
        if self.at_first is not None:
            first, self.at_first = self.at_first, None
            try:
                first()
            except Exception as error:  # the call that is traced here must not feel it
                self.log_internal_error(error)

    def opened(self, span_id: int) -> None:
        """Note in the journal a span that has started, with its attributes so far."""
        span = self.undescribed.pop(span_id, None)
        journal = self._journal
        if span is None or journal is None:
            return  # not sampled, or of a provider this pipeline does not stand behind
        try:
            journal.started(span, self._apply_stages(span))
        except Exception as error:  # the call that is traced here must not feel it
            self.log_internal_error(error)

    def on_end(self, span: ReadableSpan) -> None:
        store, journal = self.store, self._journal
        context = span.get_span_context()
        if self._paused_ns is not None and not self._started_before_pause(span):
            return
        if self.undescribed and context is not None:
            self.undescribed.pop(context.span_id, None)
        if store is None or context is None or not context.trace_flags.sampled:
            return
        try:
            if journal is None:
                self._ended.add()
                store.put(self._apply_stages(span))
                return
            if context.span_id in journal.of_parent:
                return
            shown = self._apply_stages(span)
            assert isinstance(store, DirectStore)  # as every store with a journal
            self.put(store, journal, store.encoded(shown), span.end_time or 0, context.span_id)
            if journal.dropped_spans:
                self.close_dropped(store, journal)
        except Exception as error:  # the call that is traced here must not feel it
            self.log_internal_error(error)

    def put(
        self, store: DirectStore, journal: Journal, document: Line, end_ns: int, span_id: int
    ) -> None:
        """Put a span away that has ended.

        A signal handler of the program may raise anywhere in here, and again in what handles that.
        So the span is among the abandoned ones before: the next put finishes this one then.
        """
        gate, thread = journal.gate, get_ident()
        inside = gate.inside
        if end_ns > self.look_ns and not (gate.is_putting or thread in inside):
            self._look(journal, end_ns)
        if thread in inside or gate.abandoned:  # in a signal handler, or after one
            self._put_alone(store, journal, document, end_ns, span_id)
            return
        if thread != gate.first and not gate.is_crowded:
            self._note_thread(gate, thread)
        put: _Put = (store, document, end_ns, span_id, 0, False)
        is_put = False
        inside[thread] = True
        try:
            opened = store.open
            file, frame = opened.file, opened.frame
            if file is not None and not gate.is_closed:
                put = (store, document, end_ns, span_id, file.size, False)
                is_put = file.append_beside(*(document if frame is None else frame(document)))
                if is_put:
                    journal.ended(span_id, None)
                    opened.taken.add()
        except BaseException as error:  # perhaps of a signal handler, or no room
            del inside[thread]  # Python runs no handler before the next call has returned
            gate.abandoned.append(put)
            self._finish_abandoned(journal)
            let_through(error)
            if isinstance(error, Exception) and not isinstance(error, OSError):
                self.log_internal_error(error)
            return
        del inside[thread]
        if file is None or not is_put:
            self._put_alone(store, journal, document, end_ns, span_id)
        elif file.size > opened.limit:
            opened.on_limit()

    def _put_alone(
        self, store: DirectStore, journal: Journal, document: Line, end_ns: int, span_id: int
    ) -> None:
        """Put a span away under the lock: now and then, and where that is not as simple."""
        gate = journal.gate
        with gate.lock:
            if gate.abandoned:
                self._finish_abandoned(journal)
            was_putting = gate.is_putting  # a signal handler runs, in a put of this thread
            if store is self.store:
                journal.begin(end_ns)
            file = store.open.file
            start = 0 if file is None else file.size
            put: _Put = (store, document, end_ns, span_id, start, True)
            gate.is_putting = True
            try:
                self._ended.add()
                store.put_encoded(document, end_ns)
                journal.ended(span_id, None)
            except BaseException:  # perhaps of a signal handler
                gate.abandoned.append(put)
                self._finish_abandoned(journal)
                raise
            finally:
                gate.is_putting = was_putting

    def log(self, record: LogRecord) -> None:
        """Take a log record. It is kept as an ended span is: when this returns."""
        store, journal = self._logs.store, self._logs.journal
        if store is None or not self.takes_logs_of(record.scope.name):
            return
        try:
            for stage in self.log_stages:
                record = stage(record)
            if journal is None:
                self._logs.created += 1
                store.put(record)
                return
            with journal.gate.lock:
                self._logs.created += 1
                journal.begin(record.observed_ns)
                if record.observed_ns > self.look_ns:
                    self._look(journal, record.observed_ns)
                store.put(record)
        except Exception as error:  # whoever logs must not feel it
            self.log_internal_error(error)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        store, journal = self.store, self._journal
        if journal is not None and isinstance(store, DirectStore):
            if journal.gate.abandoned:
                self._finish_abandoned(journal)
            if journal.dropped_spans:
                self.close_dropped(store, journal)
        deadline = time.monotonic() + timeout_millis / 1000
        done = [
            store.flush(max(0.0, deadline - time.monotonic()))
            for store in (self.store, self._logs.store)
            if store is not None
        ]
        _settle_on_disk()
        return all(done)

    def shutdown(self) -> None:
        """Close every open span as incomplete, then bring everything where it belongs.

        Takes three seconds at most; what an endpoint has not taken by then stays on disk.
        """
        self._leave(close_open=True)
        rotation, self._rotation = self._rotation, None
        if rotation is not None:
            rotation.finish()
        _settle_on_disk()

    # --------------------------------------------------------------------------------- insides

    def _begin_rotation(self) -> None:
        """Keep the limits of the folder that is recorded into, if there are any."""
        recording, before = self._recording(), self._rotation
        self._rotation = None
        if before is not None:
            before.stop()
        if recording is None:
            return
        recording.unlimit()
        if self._limits != NO_LIMITS:
            from agentool_otel.tracing.export.disk.rotation import Rotation

            self._rotation = Rotation(recording, self._journal, self._limits, self._look_at_once)
            self._rotation.start()

    def _look_at_once(self) -> None:
        """Have the next span look whether the recording has to continue in a new file."""
        self.look_ns = 0

    def _apply_stages(self, span: ReadableSpan) -> ReadableSpan:
        for stage in self.stages:
            span = stage(span)
        return span

    def _started_before_pause(self, span: ReadableSpan) -> bool:
        """Return whether a span started before the pause; without a journal its own time
        decides.
        """
        context = span.get_span_context()
        if self._journal is None or context is None:
            return self._paused_ns is None or (span.start_time or 0) < self._paused_ns
        return self._journal.holds(context.span_id) or context.span_id in self.undescribed

    def _finish_abandoned(self, journal: Journal) -> None:
        """Put away the spans whose put was given up; more than once is as good as once."""
        gate = journal.gate

        def finish() -> None:
            with gate.lock:
                while gate.abandoned:
                    store, document, end_ns, span_id, start, is_counted = gate.abandoned[0]
                    failure: Exception | None = None
                    try:
                        if store.put_again(document, end_ns, start) and not is_counted:
                            self._ended.add()
                    except Exception as error:  # given up, or all later spans would wait for it
                        let_through(error)
                        failure = error
                    journal.ended(span_id, None)
                    gate.abandoned.popleft()
                    if failure is not None:
                        self.log_internal_error(failure)

        insist(finish)

    def _note_thread(self, gate: Gate, thread: int) -> None:
        """Note the first thread that traces; have the files prepared for several at the second."""
        if gate.first:
            gate.is_crowded = True
            self.look_ns = 0
        else:
            gate.first = thread

    def _look(self, journal: Journal, now_ns: int) -> None:
        """Look whether the files are still there and small enough; one thread does."""
        self.look_ns = now_ns + _LOOK_NS
        with journal.gate.lock:
            journal.begin(now_ns)
            journal.look(now_ns)
            if journal is not self._journal:
                return
            if self._rotation is not None:
                self._rotation.look(now_ns)
            if journal.gate.is_crowded and isinstance(self.store, DirectStore):
                opened = self.store.open.file
                if opened is not None:
                    opened.keep_lock()

    def close_dropped(self, store: DirectStore, journal: Journal) -> None:
        """Close the spans that nobody can end any more, because they were dropped."""
        with journal.gate.lock:
            self._finish_abandoned(journal)
            now = time.time_ns()
            for span_id, document in journal.dropped():
                try:
                    line = store.encoded_document(close_document(document, now))
                    self.put(store, journal, line, now, span_id)
                except Exception as error:
                    self.log_internal_error(error)
                    journal.ended(span_id, None)

    def _leave(self, close_open: bool = False) -> list[ReadableSpan]:
        """Deliver everything and close the store; return the spans that are still open."""
        deadline = time.monotonic() + CLOSING_S
        store, journal, place = self.store, self._journal, self._place
        self.store = self._journal = self._place = self.target = None
        if store is None:
            self._logs.change(None)
            return []
        still_open: list[ReadableSpan] = []
        if journal is not None:
            assert isinstance(store, DirectStore)
            self.close_dropped(store, journal)
            still_open = journal.open_spans()
            if close_open:
                opening, self.undescribed = self.undescribed, {}
                still_open += opening.values()
            now = time.time_ns()
            for span in still_open if close_open else ():
                context = span.get_span_context()
                shown = self._apply_stages(close_span(span, now))
                if context is not None:
                    self.put(store, journal, store.encoded(shown), now, context.span_id)
        store.close(CLOSING_S)
        self._before = add_counts(self._before, counts_of(store))
        if isinstance(store, DirectStore):
            self._taken_before += store.open.taken.value
        self._reason_before = reason_of(store) or self._reason_before
        same_place = self._logs.is_beside_spans
        logs = self._logs.change(None, timeout_s=max(0.0, deadline - time.monotonic()))
        if journal is not None and place is not None:
            waiting = store.spooled + store.refused
            waiting += logs["spooled"] + logs["refused"] if same_place else 0
            journal.close(keep=waiting > 0)
            if isinstance(store, RecordingExporter):
                _complete_recordings(place)  # of children that could not do so themselves
            place.leave()
        return still_open

    def _reopen(self, still_open: list[ReadableSpan]) -> None:
        """Note spans that were open when the destination changed: they end at the new one."""
        for span in still_open:
            if self._journal is not None:
                self._journal.started(span, self._apply_stages(span))

    def log_internal_error(self, error: Exception) -> None:
        """Contain an error of ours; what a signal handler has raised is for the program."""
        if self._strict or is_interruption(error):
            raise error
        if not self._failed:
            self._failed = True
            _log.warning(
                "agentool_otel failed while keeping a span or log record; your program is not "
                "affected, some may be missing (%s)",
                type(error).__name__,
            )
            _log.debug("details", exc_info=error)

    def _forked(self) -> None:
        """Count anew in a child."""
        self._ended = Counter()
        self._taken_before = 0
        self.undescribed = {}
        self._before = NO_COUNTS
        self._reason_before = ""
        self._logs.count_anew()
        self.look_ns = 0


def masked_pipeline() -> tuple[Pipeline, Masking]:
    """Return a pipeline that lets nothing out that the content policy of the process keeps."""
    pipeline, masking = Pipeline(), Masking()
    pipeline.stages.append(masking)
    pipeline.log_stages.append(partial(mask_log, masking))
    return pipeline, masking


def _settle_on_disk() -> None:
    """Wait until the disk has what was written, where the environment asks for that."""
    if environment.sync_wanted():
        from agentool_otel.tracing.export.disk import sync

        sync.settle()


def _complete_recordings(place: RecordingDir) -> None:
    survey = leftovers.RecoveryReport(place.folder)
    recovery.complete_recordings(place.folder, survey)
    survey.log()
