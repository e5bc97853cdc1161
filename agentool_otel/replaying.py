"""The forward direction: a ReasoningTrace as spans with its original times.

A trace is first *planned*: which spans it becomes, with which attributes. The plan is then read
back by the rebuild itself, and wherever that reading differs from the document the difference is
added to the span as a residue (see `residue`). So `rebuild(replay(trace)) == trace` holds for every
document, and an ordinary one needs no residue.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping
from time import time_ns
from typing import Any, cast

from msgspec import UNSET
from opentelemetry import trace as otel
from opentelemetry.context import Context
from opentelemetry.trace import Status, StatusCode, set_span_in_context

from agentool_otel.dialects import Reader, WritingDialect, writing_dialect
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.codec import decode
from agentool_otel.model.denials import DENIED
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import (
    AgentInvocation,
    MemoryOperation,
    Operation,
    ToolExecution,
    Unclassified,
    records_in,
)
from agentool_otel.model.span_ids import SpanIds
from agentool_otel.model.spans import Attributes, SpanEvent, SpanRecord
from agentool_otel.model.statuses import FAILED_STATUSES
from agentool_otel.model.times import to_ns
from agentool_otel.reading.rebuild import residue
from agentool_otel.reading.rebuild.failures import ended_well
from agentool_otel.reading.rebuild.labels import attributes_of
from agentool_otel.reading.rebuild.runs import rebuild_groups
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.semconv import agentool, core, gen_ai
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.tracing.spans.live import KINDS
from agentool_otel.tracing.spans.settings import SCOPE, settings

__all__ = ["plan", "replay"]

_BLOCK = 100
"""Step events per span, below the SDK's default limit of 128."""

_NAMED = 200
"""Characters of a text that a message has."""
_SCHEMA_VERSION = "0.1"
_HANDED_DOWN = frozenset({gen_ai.AGENT_NAME, gen_ai.CONVERSATION_ID, core.USER_ID})

Trace = ReasoningTrace | Mapping[str, Any] | Rebuilt
"""A trace as a document, as its JSON object, or as it was rebuilt."""


class PlannedSpan:
    """One span to be: everything but its ids."""

    __slots__ = ("attributes", "end_ns", "error", "events", "kind", "name", "start_ns")

    def __init__(self, operation: Operation, start_ns: int, end_ns: int, name: str | None = None):
        written_name, self.kind, self.attributes = GenAI().write(operation)
        self.name = name or written_name
        self.start_ns = start_ns
        self.end_ns = max(start_ns, end_ns)
        self.error = operation.error_message if operation.error_type is not None else None
        self.events: list[SpanEvent] = []

    @property
    def failed(self) -> bool:
        return core.ERROR_TYPE in self.attributes

    def translate(self, dialect: WritingDialect) -> None:
        """Write the operation in another dialect."""
        span = SpanRecord(
            "", "", name=self.name, kind=self.kind, attributes=self.attributes, scope=SCOPE
        )
        operation = GenAI().read(Reader(span))
        name, self.kind, attributes = dialect.write(operation)
        if not isinstance(operation, Unclassified):
            self.name = name
        self.attributes.clear()  # in place: residues find their way to it
        self.attributes.update(attributes)


def replay(
    traces: Trace | str | bytes | Iterable[Trace],
    tracer_provider: otel.TracerProvider | None = None,
    *,
    dialect: str = "gen_ai",
) -> None:
    """Write traces as spans with their original times.

    Args:
        traces: one trace or several: documents, JSON objects or JSON text of them, results of
            `rebuild`, or objects whose `to_dict()` returns such an object. For a file:
            `load(path)`.
        tracer_provider: the provider of the spans; by default the one that `instrument()` uses.
            With the SDK's provider the ids are deterministic: the OTel trace id is the trace's own
            id if that has the right form, else a hash of it, so a trace that is sent twice is one
            trace.
        dialect: the vocabulary of the spans; from each of them the same trace is rebuilt.

    Raises:
        DecodeError: an item is not a trace.
        ConfigurationError: the dialect cannot be written.
    """
    words = None if dialect == "gen_ai" else writing_dialect(dialect)
    provider = tracer_provider or settings.provider or otel.get_tracer_provider()
    for document in _documents(traces):
        _emit(document.trace_id, plan(document, words), provider)


def _documents(traces: Any) -> Iterator[ReasoningTrace]:
    if isinstance(traces, (str, bytes)):
        traces = _parse(traces)
    one = isinstance(traces, (Mapping, Rebuilt)) or hasattr(traces, "to_dict")
    if not one and not isinstance(traces, Iterable):
        raise DecodeError("a trace or several", f"an object of type {type(traces).__name__}")
    several = cast("Iterable[Any]", [traces] if one else traces)
    for item in several:
        yield decode(ReasoningTrace, item.trace if isinstance(item, Rebuilt) else item)


def _parse(json_text: str | bytes) -> Any:
    try:
        return loads(json_text)
    except ValueError as error:
        named = f"the text {json_text!r}" if len(json_text) < _NAMED else "another text"
        begins_as_json = json_text.lstrip()[:1] in (b"{", b"[", "{", "[")
        actual = f"JSON that is damaged ({error})" if begins_as_json else named
        hint = None if begins_as_json else "the traces of a file are replayed by replay(load(path))"
        raise DecodeError("a trace, several, or JSON of them", actual, hint=hint) from None


def plan(document: ReasoningTrace, dialect: WritingDialect | None = None) -> list[PlannedSpan]:
    """Return the spans of a trace, the root first, with all that is needed to read it back."""
    wanted = document.to_dict()
    planner = _Planner(wanted)
    planner.lay_out()
    if dialect is not None:
        for span in planner.spans:
            span.translate(dialect)
    natural = next(rebuild_groups([planner.records()], list)).trace.to_dict()
    planner.add_residues(natural)
    return planner.spans


class _Planner:
    """Lays out the spans of one trace."""

    def __init__(self, wanted: dict[str, Any]):
        self._wanted = wanted
        self._steps: list[dict[str, Any]] = wanted["steps"]
        times = [_ns(step.get("timestamp")) for step in self._steps]
        present = [time for time in times if time is not None]
        start = _ns(wanted.get("started_at"))
        end = _ns(wanted.get("finished_at"))
        if start is None:
            start = min(present, default=end if end is not None else time_ns())
        self._start: int = start
        self._end: int = max(end if end is not None else max(present, default=start), start)
        self._times = [time if time is not None else start for time in times]
        self.spans: list[PlannedSpan] = []
        self._carriers: dict[int, tuple[Attributes, str]] = {}
        """Per step, the attributes that carry its residue, and under which name."""

    # ---- the root
    def lay_out(self) -> None:
        wanted = self._wanted
        status = wanted.get("status")
        agent_id, session_id = wanted.get("agent_id"), wanted.get("session_id")
        error_type, error_message = _error(wanted)
        root = PlannedSpan(
            AgentInvocation(
                agent_name=_name(agent_id),
                conversation_id=_name(session_id),
                error_type=error_type,
                error_message=error_message,
            ),
            self._start,
            self._end,
        )
        self.spans.append(root)
        attributes = root.attributes
        attributes[agentool.SCHEMA_VERSION] = _SCHEMA_VERSION
        if _plain(wanted["trace_id"]) is not None:
            attributes[agentool.TRACE_ID] = wanted["trace_id"]
        if _name(agent_id) is not None:
            attributes[agentool.AGENT_ID] = agent_id
        if _plain(status) is not None:
            attributes[agentool.STATUS] = status
        ending = "error" if error_type is not None else "stop"
        self._write_content("input", gen_ai.INPUT_MESSAGES, agentool.INPUT, "user")
        self._write_content("output", gen_ai.OUTPUT_MESSAGES, agentool.OUTPUT, "assistant", ending)
        metrics = wanted.get("metrics")
        if isinstance(metrics, dict):
            for key in ("total_tokens", "total_cost_usd", "total_duration_ms", "step_count",
                        "tool_call_count"):  # fmt: skip
                if _is_number(metrics.get(key)):
                    attributes[agentool.METRICS_PREFIX + key] = metrics[key]
        if isinstance(wanted.get("metadata"), dict):
            attributes[agentool.METADATA] = dumps(wanted["metadata"])
        attributes.update(attributes_of(wanted.get("metadata")))
        self._lay_out_steps()
        self._hand_down(root)
        self._lay_out_timeline(root)
        if error_message is not None:
            thrown = _exception_attributes(wanted["metadata"]["error"])
            root.events.append(SpanEvent(core.EXCEPTION_EVENT, self._end, thrown))
        for span in self.spans:
            span.attributes[agentool.SPAN_START_NS] = span.start_ns
            span.attributes[agentool.SPAN_END_NS] = span.end_ns

    def _write_content(
        self, member: str, messages: str, other: str, role: str, ending: str | None = None
    ) -> None:
        value = self._wanted.get(member)
        attributes = self.spans[0].attributes
        if isinstance(value, str):
            attributes[messages] = dumps([message(role, [text(value)], ending)])
        elif member in self._wanted:
            attributes[other] = dumps(value)

    def _hand_down(self, root: PlannedSpan) -> None:
        """Copy the identity of the run to the spans of its steps, as live spans have it."""
        attributes = {
            key: attribute for key, attribute in root.attributes.items() if key in _HANDED_DOWN
        }
        for span in self.spans[1:]:
            span.attributes.update(attributes)

    # ---- steps with a span of their own
    def _lay_out_steps(self) -> None:
        results = self._pairs()
        paired = set(results.values())
        for n, step in enumerate(self._steps):
            match step:
                case {"executed": False}:
                    pass  # a call that was chosen and never ran: an event alone carries it
                case {"type": "tool_call", "tool_call": {"name": str(name)}} if _plain(name):
                    self._lay_out_call(n, results.get(n))
                case {"type": "tool_result", "tool_result": dict()} if n not in paired:
                    self._lay_out_orphan(n)
                case {"type": "handoff", "to_agent": str(target)} if _name(target):
                    self._lay_out_instant(
                        n,
                        ToolExecution(
                            name=f"transfer_to_{target}",
                            tool_type="function",
                            transfer_target=target,
                            transfer_message=_plain(step.get("message")),
                        ),
                    )
                case {"type": "memory_read"}:
                    retrieved = step.get("results", UNSET)
                    self._lay_out_instant(
                        n,
                        MemoryOperation(
                            operation="search_memory",
                            query=_plain(step.get("query")),
                            results=retrieved,
                            record_count=None if retrieved is UNSET else records_in(retrieved),
                        ),
                    )
                case {"type": "memory_write"}:
                    self._lay_out_instant(
                        n,
                        MemoryOperation(
                            operation="upsert_memory",
                            record_id=_plain(step.get("key")),
                            record_count=1,
                            content=step.get("content", UNSET),
                        ),
                    )
                case _:
                    pass  # an event alone carries it

    def _pairs(self) -> dict[int, int]:
        """Pair tool calls with their results by id; among equal ids first come, first served."""
        results: dict[str, list[int]] = {}
        for n, step in enumerate(self._steps):
            match step:
                case {"type": "tool_result", "tool_result": {"call_id": str(call_id)}}:
                    results.setdefault(call_id, []).append(n)
                case _:
                    pass
        pairs: dict[int, int] = {}
        for n, step in enumerate(self._steps):
            match step:
                case {"type": "tool_call", "tool_call": {"id": str(call_id), "name": str(name)}}:
                    if _plain(name) and results.get(call_id):
                        pairs[n] = results[call_id].pop(0)
                case _:
                    pass
        return pairs

    def _lay_out_call(self, n: int, result: int | None) -> None:
        call = self._steps[n]["tool_call"]
        start = end = self._times[n]
        operation: dict[str, Any] = {
            "name": call["name"],
            "tool_type": "function",
            "call_id": _plain(call.get("id")),
            "arguments": call.get("arguments", UNSET),
        }
        if result is not None:
            end = self._times[result]
            operation |= _result(self._steps[result]["tool_result"])
        span = PlannedSpan(ToolExecution(**operation), start, end)
        self._carry(span, n, agentool.STEP_INDEX, agentool.STEP_ID, agentool.STEP_EXTRA)
        if result is not None:
            self._carry(span, result, agentool.STEP_RESULT_INDEX, agentool.STEP_RESULT_ID,
                        agentool.STEP_RESULT_EXTRA)  # fmt: skip
        else:
            span.attributes[agentool.TOOL_INCOMPLETE] = "call_only"

    def _lay_out_orphan(self, n: int) -> None:
        result = self._steps[n]["tool_result"]
        operation = ToolExecution(
            name="unknown",
            tool_type="function",
            call_id=_plain(result.get("call_id")),
            **_result(result),
        )
        span = PlannedSpan(operation, self._times[n], self._times[n])
        span.attributes[agentool.TOOL_INCOMPLETE] = "result_only"
        self._carry(span, n, agentool.STEP_RESULT_INDEX, agentool.STEP_RESULT_ID,
                    agentool.STEP_RESULT_EXTRA)  # fmt: skip

    def _lay_out_instant(self, n: int, operation: Operation) -> None:
        span = PlannedSpan(operation, self._times[n], self._times[n])
        self._carry(span, n, agentool.STEP_INDEX, agentool.STEP_ID, agentool.STEP_EXTRA)

    def _carry(self, span: PlannedSpan, n: int, index: str, step_id: str, extra: str) -> None:
        span.attributes[index] = n
        own_id = self._steps[n].get("step_id")
        if _plain(own_id) is not None and own_id != f"step_{n + 1:03d}":
            span.attributes[step_id] = own_id
        self._carriers[n] = (span.attributes, extra)
        if not self.spans or self.spans[-1] is not span:
            self.spans.append(span)

    # ---- the timeline
    def _lay_out_timeline(self, root: PlannedSpan) -> None:
        """An event per step, on the root and then on continuation spans."""
        holder = root
        for n, step in enumerate(self._steps):
            if n and n % _BLOCK == 0:
                holder = PlannedSpan(Unclassified(), self._times[n], self._times[n],
                                     agentool.STEPS_SPAN)  # fmt: skip
                self.spans.append(holder)
            kind = _plain(step["type"]) or "unknown"
            attributes: Attributes = {agentool.STEP_INDEX: n, agentool.STEP_TYPE: kind}
            holder.events.append(SpanEvent(agentool.STEP_EVENT, self._times[n], attributes))
            call = step.get("tool_call")
            if isinstance(call, dict) and _plain(call.get("name")) is not None:
                attributes[gen_ai.TOOL_NAME] = call["name"]
            if n in self._carriers:
                continue
            self._carriers[n] = (attributes, agentool.STEP_EXTRA)
            step_id = _plain(step.get("step_id"))
            if step_id is not None and step_id != f"step_{n + 1:03d}":
                attributes[agentool.STEP_ID] = step_id
            if _plain(step.get("content")) is not None:
                attributes[agentool.STEP_CONTENT] = step["content"]
            if _is_number(step.get("context_tokens")):
                attributes[agentool.STEP_CONTEXT_TOKENS] = step["context_tokens"]

    # ---- reading it back
    def records(self) -> list[SpanRecord]:
        """Return the plan as collected spans, with ids of its own."""
        records: list[SpanRecord] = []
        for n, span in enumerate(self.spans):
            records.append(
                SpanRecord(
                    trace_id="0" * 31 + "1",
                    span_id=f"{n + 1:016x}",
                    parent_id=None if n == 0 else f"{1:016x}",
                    name=span.name,
                    kind=span.kind,
                    start_ns=span.start_ns,
                    end_ns=span.end_ns,
                    attributes=span.attributes,
                    events=span.events,
                    status="ERROR" if span.failed else "UNSET",
                    status_message=span.error,
                    scope=SCOPE,
                )
            )
        return records

    def add_residues(self, natural: dict[str, Any]) -> None:
        """Add the residues, given the document that the plan reads back as without them."""
        read = natural.pop("steps")
        wanted = {key: value for key, value in self._wanted.items() if key != "steps"}
        difference = residue.difference(natural, wanted)
        if difference is not None:
            self.spans[0].attributes[agentool.EXTRA] = dumps(difference)
        for n, step in enumerate(self._steps):
            attributes, name = self._carriers[n]
            difference = residue.difference(read[n] if n < len(read) else {}, step)
            if difference is not None:
                attributes[name] = dumps(difference)


def _error(wanted: dict[str, Any]) -> tuple[str | None, str | None]:
    """Return the type and the message of the error that a trace's own span ends with: those of
    `metadata.error` where the run did not go well, else its status."""
    status = wanted.get("status")
    plain_failure = status if status in FAILED_STATUSES else None
    metadata = wanted.get("metadata")
    error = metadata.get("error") if isinstance(metadata, dict) else None
    if not isinstance(error, dict) or ended_well(status):
        return plain_failure, None
    kind, message = _name(error.get("type")), _name(error.get("message"))
    if kind is None and message is not None:
        kind = plain_failure or core.ERROR_TYPE_OTHER
    return kind or plain_failure, message


def _exception_attributes(error: dict[str, Any]) -> Attributes:
    """Return the attributes of the exception event for the error that ended a run."""
    names = {core.EXCEPTION_TYPE: "type", core.EXCEPTION_MESSAGE: "message"}
    attributes = {name: _name(error.get(member)) for name, member in names.items()}
    return {name: value for name, value in attributes.items() if value is not None}


def _result(result: dict[str, Any]) -> dict[str, Any]:
    """The fields of a tool execution that come from its result."""
    error = _plain(result.get("error"))
    tokens, duration = result.get("cost_tokens"), result.get("duration_ms")
    fields: dict[str, Any] = {"result": result.get("output", UNSET)}
    if error is not None:
        kind = DENIED if error.startswith(DENIED) else "tool_error"
        fields |= {"tool_error": error, "error_type": kind, "error_message": error}
    if _is_number(duration):
        fields["duration_ms"] = duration
    if _is_number(tokens) and isinstance(tokens, int):
        fields["cost_tokens"] = tokens
    if _is_number(code := result.get("exit_code")) and isinstance(code, int):
        fields["exit_code"] = code
    return fields


def _emit(trace_id: str, spans: list[PlannedSpan], provider: otel.TracerProvider) -> None:
    from agentool_otel.ground.version import __version__

    tracer = provider.get_tracer(SCOPE, __version__, GENERATIONS[gen_ai.BASELINE].schema_url)
    if hasattr(tracer, "id_generator"):
        tracer = copy.copy(tracer)
        cast(Any, tracer).id_generator = SpanIds(trace_id)
    context: Context | None = Context()
    root: otel.Span | None = None
    for planned in spans:
        span = tracer.start_span(
            planned.name,
            context,
            KINDS[planned.kind],
            planned.attributes,
            start_time=planned.start_ns,
        )
        for event in planned.events:
            span.add_event(event.name, event.attributes, event.time_ns)
        if planned.failed:
            span.set_status(Status(StatusCode.ERROR, planned.error or None))
        if root is None:
            root = span
            context = set_span_in_context(span, Context())
        else:
            span.end(planned.end_ns)
    if root is not None:
        root.end(spans[0].end_ns)


def _ns(value: Any) -> int | None:
    """A time that a span can carry: after the epoch, in 63 bits of nanoseconds."""
    ns = to_ns(value) if isinstance(value, str) else None
    return ns if ns is not None and 0 < ns < 2**63 else None


def _plain(value: Any) -> str | None:
    """Return text that an attribute can carry as it is: valid Unicode."""
    if not isinstance(value, str):
        return None
    try:
        value.encode()
    except UnicodeEncodeError:
        return None
    return value


def _name(value: Any) -> str | None:
    return _plain(value) or None


def _is_number(value: Any) -> bool:
    if isinstance(value, bool):
        return False
    return isinstance(value, float) or (isinstance(value, int) and -(2**63) <= value < 2**63)
