"""One invocation: what is known of it, until its step ends.

What is told of it is kept and written when it ends, because it may turn out only then what must not
leave: a result may be redacted, a tool may be declared late.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from agentool_otel.event_streams.agent_tool.objects_on_spans import plain, put_object
from agentool_otel.event_streams.agent_tool.outcomes import TERMINAL, error_type_of
from agentool_otel.event_streams.agent_tool.timing import Timing, time_of, transitions_of
from agentool_otel.event_streams.agent_tool.tools import Tool
from agentool_otel.event_streams.agent_tool.withholding import Withheld, withheld_by
from agentool_otel.event_streams.recording import Step
from agentool_otel.ground.json_codec import canonical
from agentool_otel.semconv import agent_tool as names
from agentool_otel.semconv import core, mcp

__all__ = ["Call", "Note"]

S = TypeVar("S", bound=Step)
Object = Mapping[str, Any]

_PAYLOAD = ("structured_content", "model_facing_content", "content")
"""Of a result; the first that is there is what the tool gave."""
_OUTPUT = (*_PAYLOAD, "ui_facing_summary", "summary", "updated_output")
_TELLING = 12
"""Texts of a redacted payload that are as long are taken out wherever else they are repeated."""
_NOTES = 1_000_000
"""Notes kept of one invocation where spans have room for any number."""


class Note(NamedTuple):
    """Something that is told of an invocation: a span event."""

    name: str
    kind: str
    members: Object
    at_ns: int


class Call(Generic[S]):
    """One invocation under way."""

    def __init__(self, step: S, invocation_id: str, at_ns: int, room: int | None):
        self.step = step
        self.id = invocation_id
        self.timing = Timing(at_ns)
        self.invocation: dict[str, Any] = {}
        """The Invocation, as it was told of last."""
        self.result: dict[str, Any] = {}
        """The Result, likewise."""
        self.state: str | None = None
        self.last_ns = at_ns
        self.withheld: str | None = None
        """Why its payload is not to leave."""
        self.decided = False
        """Whether it is known what is redacted."""
        self._original_size: Any = None
        self._mutated_by: list[str] = []
        self._links: set[tuple[str, str]] = set()
        room = _NOTES if room is None else room
        self._room = max(room - room // 2, 1)
        self._notes: list[Note] = []
        self._progress: deque[Note] = deque(maxlen=max(room // 2, 1))
        self._progress_count = 0
        self._dropped = 0

    # ------------------------------------------------------------------------ what is told of it

    @property
    def ended(self) -> bool:
        """Whether it has ended, and its result is there."""
        return self.state in TERMINAL and bool(self.result)

    @property
    def call_id(self) -> str:
        """Id of the call in its native protocol, else of the invocation."""
        native = self.invocation.get("native_call_id")
        return native if isinstance(native, str) and native else self.id

    def enter(self, state: str, at_ns: int) -> None:
        """Note that it is in a state. After the last one none of those before comes again."""
        self.timing.enter(state, at_ns)
        if self.state not in TERMINAL or state in TERMINAL:
            self.state = state

    def take_invocation(self, members: Object, at_ns: int) -> None:
        """Note what an Invocation says; what an earlier one said, and this one does not, stays."""
        self.invocation.update(members)
        state = members.get("status")
        started = time_of(members, "started_at")
        if started is not None:
            self.timing.started_ns = started
        if isinstance(state, str):
            self.enter(state, time_of(members, "ended_at") or at_ns)
        ended = time_of(members, "ended_at")
        if ended is not None:
            self.timing.ended_ns = ended

    def take_result(self, members: Object) -> None:
        """Note what a Result says."""
        self.result.update(members)
        self.decided = self.decided or isinstance(members.get("redaction_state"), str)
        self.withhold(withheld_by(members))

    def take_persistence(self, members: Object) -> None:
        """Note what becomes of its result."""
        self._original_size = members.get("original_size_bytes")
        self.withhold(withheld_by(members))

    def take_decision(self, members: Object, at_ns: int) -> None:
        """Note what was decided about it."""
        behavior = members.get("behavior")
        if behavior == "ask":
            self.enter("awaiting_approval", at_ns)
        elif behavior == "deny":
            self.enter("denied", at_ns)
        elif behavior == "allow":
            self.timing.enter("approved", at_ns)

    def take_mutation(self, members: Object) -> None:
        """Note that an input was changed."""
        source = members.get("source_type")
        self._mutated_by.append(source if isinstance(source, str) else "unknown")

    def withhold(self, why: str | None) -> None:
        """Note that its payload must not leave."""
        if why is not None:
            self.withheld, self.decided = why, True

    def note(self, note: Note) -> None:
        """Keep what is told of it, as far as there is room."""
        self.last_ns = max(self.last_ns, note.at_ns)
        if _is_progress(note):
            self._progress_count += 1
            self._progress.append(note)
        elif len(self._notes) < self._room:
            self._notes.append(note)
        else:
            self._dropped += 1

    def link(self, references: object) -> None:
        """Refer to the spans that references of telemetry name."""
        for it in references if isinstance(references, (list, tuple)) else ():
            ids = _span_ids(it)
            if ids is not None and ids != self.step.ids and ids not in self._links:
                self._links.add(ids)
                self.step.link(*ids)

    # ----------------------------------------------------------------------------- how it ends

    def reference(self, tool: Tool) -> dict[str, Any] | None:
        """Return where its telemetry is; None where it has none."""
        ids = self.step.ids
        if ids is None:
            return None
        told = {
            "trace_id": ids[0],
            "span_id": ids[1],
            "tool_name": tool.name,
            "tool_call_id": self.call_id,
            "request_id": self._request_id(tool),
            "duration_ms": self.timing.run_ms,
            "result_size_bytes": self._size() if self.result else None,
        }
        return {name: value for name, value in told.items() if value is not None}

    def end(self, tool: Tool) -> None:
        """Write what is known of it, and end its step."""
        transitions = transitions_of(self.invocation)
        self.timing.fill(transitions)
        guard = self._guard(tool)
        inputs = guard.without(self._inputs(tool))
        error_type = error_type_of(self.result, self.state)
        self._write_objects(guard, tool)
        self.step.mark(self._labels(tool, inputs))
        self._write_content(guard, inputs)
        self.step.set(
            name=tool.name,
            call_id=self.call_id,
            tool_type=tool.tool_type,
            description=tool.description,
            error_type=error_type,
            duration_ms=self.timing.run_ms,
        )
        for note in self._in_order(transitions):
            self.step.note(note.name, self._written(note, guard, tool), note.at_ns)
        self.step.end(max(self.timing.ended_ns or self.last_ns, self.timing.created_ns))

    def _written(self, note: Note, guard: Withheld, tool: Tool) -> dict[str, Any]:
        """Return the attributes of a span event."""
        if note.kind == _TRANSITION:
            return {names.INVOCATION_STATUS: note.members["state"]}
        content = self.withheld is None or note.kind in _ABOUT_INPUT
        members = guard.without(note.members)
        return put_object(note.kind, members, content=content and not tool.withheld)

    def _guard(self, tool: Tool) -> Withheld:
        guard = Withheld(tool.sensitive)
        told = [self.invocation, self.result, *(it.members for it in self._notes)]
        for members in (*told, *(it.members for it in self._progress)):
            guard.learn(members)
            if self.withheld is not None or tool.withheld:
                for holder in (members, members.get("data")):
                    if isinstance(holder, Mapping):
                        guard.forbid([holder[it] for it in _OUTPUT if it in holder], _TELLING)
        return guard

    def _inputs(self, tool: Tool) -> dict[str, Any]:
        if tool.withheld:
            return {}
        return {it: self.invocation[it] for it in names.INPUTS if it in self.invocation}

    def _write_objects(self, guard: Withheld, tool: Tool) -> None:
        if self.invocation:
            members = guard.without(self.invocation)
            self.step.mark(put_object("Invocation", members, content=not tool.withheld))
        if self.result:
            open_to_all = self.withheld is None and not tool.withheld
            members = guard.without(self.result)
            if not open_to_all:
                members = {it: value for it, value in members.items() if it not in _OUTPUT}
            self.step.mark(put_object("Result", members, content=open_to_all))

    def _write_content(self, guard: Withheld, inputs: Object) -> None:
        if inputs:
            last = [it for it in names.INPUTS if it in inputs][-1]
            self.step.add(lambda: {"arguments": inputs[last]})
        if self.withheld is not None or not self.result:
            return
        payload = next((it for it in _PAYLOAD if it in self.result), None)
        if payload is not None:
            self.step.add(lambda: {"result": guard.without(self.result[payload])})
        error = self.result.get("error")
        message = error.get("message") if isinstance(error, Mapping) else None
        if isinstance(message, str):
            self.step.add(lambda: {"tool_error": guard.without(message)})

    def _labels(self, tool: Tool, inputs: Object) -> dict[str, Any]:
        """Return what its span is looked for by."""
        if tool.withheld:
            self.withheld = self.withheld or "redaction_required"
        values = [canonical(it) for it in inputs.values()]
        error = self.result.get("error")
        error = error if isinstance(error, Mapping) else {}
        labels = {
            names.INVOCATION_ID: plain(self.id),
            names.INVOCATION_STATUS: plain(self.state),
            names.TOOL_NAMESPACE: plain(tool.namespace),
            names.TOOL_KIND: plain(tool.kind),
            names.INPUT_MUTATED: bool(self._mutated_by) or len(set(values)) > 1 or None,
            names.INPUT_MUTATED_BY: self._mutated_by[:] or None,
            names.QUEUE_MS: self.timing.queue_ms,
            names.RUN_MS: self.timing.run_ms,
            names.APPROVAL_MS: self.timing.approval_ms,
            names.PROGRESS_COUNT: self._progress_count or None,
            names.PROGRESS_DROPPED: self._progress_count - len(self._progress) or None,
            names.EVENTS_DROPPED: self._dropped or None,
            names.WITHHELD: plain(self.withheld),
            names.RESULT_PAYLOAD: self._payload(),
            names.RESULT_SIZE_BYTES: self._size() if self.result else None,
            names.ERROR_CODE: plain(error.get("error_code")),
            names.ERROR_RECOVERABILITY: plain(error.get("recoverability")),
            **self._native(tool),
        }
        return {name: value for name, value in labels.items() if value is not None}

    def _payload(self) -> str | None:
        if not self.result:
            return None
        if self.withheld is not None:
            return "withheld"
        given = [self.result[it] for it in _PAYLOAD if it in self.result]
        if not given:
            return "missing"
        return "present" if any(it not in (None, "", [], {}) for it in given) else "empty"

    def _size(self) -> int | None:
        if isinstance(self._original_size, int):
            return self._original_size
        payload = next((self.result[it] for it in _PAYLOAD if it in self.result), None)
        return None if payload is None else len(canonical(payload).encode("utf-8", "replace"))

    def _native(self, tool: Tool) -> dict[str, Any]:
        """Return what it is in MCP, in the words of the conventions."""
        found: dict[str, Any] = {}
        for mapping in self._mappings(tool):
            for member, name in _MCP.items():
                value = plain(mapping.get(member))
                if value is not None:
                    found[name] = value if isinstance(value, str) else str(value)
        return found

    def _mappings(self, tool: Tool) -> Iterator[Object]:
        given = self.invocation.get("external_mappings")
        own = given if isinstance(given, (list, tuple)) else ()
        for mapping in (*tool.mappings, *own, self.invocation.get("external_mapping")):
            if isinstance(mapping, Mapping):
                yield mapping

    def _request_id(self, tool: Tool) -> Any:
        holders = (self.invocation, *self._mappings(tool))
        members = ("request_id", "jsonrpc_request_id")
        return next((it[name] for it in holders for name in members if name in it), None)

    def _in_order(self, transitions: list[tuple[str, int]]) -> Iterator[Note]:
        """Yield all notes by their times, updates of progress by their sequence."""
        told = [*self._notes, *self._progress]
        room = max(self._room - len(self._notes), 0)
        told += [
            Note("agenttool.status", _TRANSITION, {"state": plain(state)}, at_ns)
            for state, at_ns in transitions[:room]
        ]
        progress = iter(sorted(self._progress, key=_sequence))
        for note in sorted(told, key=lambda it: it.at_ns):
            yield next(progress) if _is_progress(note) else note


_TRANSITION = "a status transition"
_ABOUT_INPUT = frozenset({"PermissionDecision", "InputMutation"})
_MCP = {
    "mcp_session_id": mcp.SESSION_ID,
    "mcp_protocol_version": mcp.PROTOCOL_VERSION,
    "jsonrpc_request_id": core.JSONRPC_REQUEST_ID,
}


def _is_progress(note: Note) -> bool:
    return note.kind == "Progress" or note.name == "tool.invocation.progress"


def _sequence(note: Note) -> float:
    data = note.members.get("data")
    data = data if isinstance(data, Mapping) else {}
    inner = data.get("progress")
    holders = (note.members, data, inner if isinstance(inner, Mapping) else {})
    values = (it.get("sequence") for it in holders)
    return next((it for it in values if isinstance(it, (int, float))), float("inf"))


def _span_ids(reference: object) -> tuple[str, str] | None:
    """Return the W3C ids that a reference of telemetry has."""
    if not isinstance(reference, Mapping):
        return None
    trace_id, span_id = reference.get("trace_id"), reference.get("span_id")
    if not (isinstance(trace_id, str) and isinstance(span_id, str)):
        return None
    return (trace_id, span_id) if _is_id(trace_id, 32) and _is_id(span_id, 16) else None


def _is_id(text: str, length: int) -> bool:
    return len(text) == length and set(text) <= set("0123456789abcdef") and set(text) != {"0"}
