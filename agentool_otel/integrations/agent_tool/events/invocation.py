"""One invocation: its objects until its step ends.

Its objects are kept and written when it ends, because it may turn out only then which data is
withheld: a result may be redacted, a tool may be declared late.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

from agentool_otel.ground.json_codec import canonical
from agentool_otel.integrations.agent_tool.events.outcomes import TERMINAL
from agentool_otel.integrations.agent_tool.events.timing import Timing, time_of
from agentool_otel.integrations.agent_tool.events.tools import Tool
from agentool_otel.integrations.agent_tool.events.withholding import withheld_by
from agentool_otel.model.recorder import Step
from agentool_otel.semconv import agent_tool as names

__all__ = ["PAYLOAD", "Call", "Note", "is_progress"]

S = TypeVar("S", bound=Step)
Object = Mapping[str, Any]

PAYLOAD = ("structured_content", "model_facing_content", "content")
"""Of a result; the first that is there is what the tool gave."""
_NOTES = 1_000_000
"""Notes kept of one invocation where spans have room for any number."""
_EARLIER = 100
"""Replaced inputs and payloads kept of one invocation."""


class Note(NamedTuple):
    """An event of an invocation, kept as a span event."""

    name: str
    kind: str
    members: Object
    at_ns: int


class Call(Generic[S]):
    """One invocation under way."""

    def __init__(self, step: S, invocation_id: str, at_ns: int, room: int | None):
        self.step = step
        self.id = invocation_id
        self.tool_id: Any = None
        """Id of the tool: from its Invocation, else from the first object that has one."""
        self.start_ns = at_ns
        """When its step began."""
        self.timing = Timing(at_ns)
        self.invocation: dict[str, Any] = {}
        """The Invocation, as last reported."""
        self.result: dict[str, Any] = {}
        """The Result, likewise."""
        self.state: str | None = None
        self.last_ns = at_ns
        self.withheld: str | None = None
        """Why its payload is not to leave."""
        self.decided = False
        """Whether it is known which data is redacted."""
        self.earlier: list[dict[str, Any]] = []
        """Members of an earlier Invocation or Result that a later one has replaced."""
        self.forgotten = False
        """Whether earlier members were dropped."""
        self.size = 0
        """Characters of its objects, as far as their sizes are known."""
        self.mutated_by: list[str] = []
        """Source type of each mutation of an input."""
        self._original_size: int | None = None
        self._payload_size: int | None = None
        self._links: set[tuple[str, str]] = set()
        room = _NOTES if room is None else room
        self.room = max(room - room // 2, 1)
        """Number of notes that may still be added, besides those of progress."""
        self.notes: list[Note] = []
        self.dropped = 0
        """Notes for which there was none."""
        self.progress: deque[Note] = deque(maxlen=max(room // 2, 1))
        """The last notes of progress."""
        self.progress_count = 0
        """Number of progress notes."""

    # ------------------------------------------------------------------------ what is told of it

    @property
    def ended(self) -> bool:
        """Return whether it has ended and its result is there."""
        return self.state in TERMINAL and bool(self.result)

    @property
    def over(self) -> bool:
        """Return whether it has ended or its result is there: nothing waits for both."""
        return self.state in TERMINAL or bool(self.result)

    @property
    def end_ns(self) -> int:
        """When it ended, or was reported last; never before it began."""
        return max(self.timing.ended_ns or self.last_ns, self.start_ns)

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
        """Merge the members of an Invocation; members that it lacks keep their earlier values."""
        self._update(self.invocation, members)
        self.tool_id = members.get("tool_id") or self.tool_id
        state = members.get("status")
        created = time_of(members, "created_at")
        if created is not None:
            self.timing.created_ns = created
        started = time_of(members, "started_at")
        if started is not None:
            self.timing.started_ns = started
        if isinstance(state, str):
            self.enter(state, time_of(members, "ended_at") or at_ns)
        ended = time_of(members, "ended_at")
        if ended is not None:
            self.timing.ended_ns = ended

    def take_result(self, members: Object) -> None:
        """Merge the members of a Result."""
        self._update(self.result, members)
        self._payload_size = None
        self.decided = self.decided or isinstance(members.get("redaction_state"), str)
        self.withhold(withheld_by(members))

    def _update(self, current: dict[str, Any], members: Object) -> None:
        replaced = {
            name: current[name]
            for name in (*names.INPUTS, *PAYLOAD)
            if name in current and name in members and current[name] != members[name]
        }
        if replaced and len(self.earlier) < _EARLIER:
            self.earlier.append(replaced)
        elif replaced:
            self.forgotten = True
        current.update(members)

    def take_persistence(self, members: Object) -> None:
        """Note the persistence of its result."""
        size = members.get("original_size_bytes")
        self._original_size = size if type(size) is int else None
        self.withhold(withheld_by(members))

    def take_decision(self, members: Object, at_ns: int) -> None:
        """Note a decision about it."""
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
        if len(self.mutated_by) < self.room:
            self.mutated_by.append(source if isinstance(source, str) else "unknown")

    def withhold(self, why: str | None) -> None:
        """Note that its payload must not leave."""
        if why is not None:
            self.withheld, self.decided = why, True

    def note(self, note: Note) -> None:
        """Add a note, as far as there is room."""
        self.last_ns = max(self.last_ns, note.at_ns)
        if is_progress(note):
            self.progress_count += 1
            self.progress.append(note)
        elif len(self.notes) < self.room:
            self.notes.append(note)
        else:
            self.dropped += 1

    @property
    def is_full(self) -> bool:
        """Return whether notes are already being dropped, so that another one takes no more
        space.
        """
        return self.dropped > 0 or self.progress_count > len(self.progress)

    def link(self, references: object) -> None:
        """Refer to the spans that references of telemetry name."""
        for reference in references if isinstance(references, (list, tuple)) else ():
            ids = _span_ids(reference)
            if ids is not None and ids != self.step.ids and ids not in self._links:
                self._links.add(ids)
                self.step.link(*ids)

    # ------------------------------------------------------------------------- where it is told

    def reference(self, tool: Tool) -> dict[str, Any] | None:
        """Return where its telemetry is; None if it has none."""
        ids = self.step.ids
        if ids is None:
            return None
        sizes = {
            "trace_id": ids[0],
            "span_id": ids[1],
            "tool_name": tool.name,
            "tool_call_id": self.call_id,
            "request_id": self._request_id(tool),
            "duration_ms": self.timing.run_ms,
            "result_size_bytes": self.size_bytes() if self.result else None,
        }
        return {name: value for name, value in sizes.items() if value is not None}

    def size_bytes(self) -> int | None:
        """Return the size of its payload, as it was before anything was taken out."""
        if self._original_size is not None:
            return self._original_size
        payload = next((self.result[item] for item in PAYLOAD if item in self.result), None)
        if self._payload_size is None and payload is not None:
            self._payload_size = len(canonical(payload).encode("utf-8", "replace"))
        return self._payload_size

    def mappings(self, tool: Tool) -> Iterator[Object]:
        """Yield its mappings in native protocols."""
        mappings = self.invocation.get("external_mappings")
        own_mappings = mappings if isinstance(mappings, (list, tuple)) else ()
        for mapping in (*tool.mappings, *own_mappings, self.invocation.get("external_mapping")):
            if isinstance(mapping, Mapping):
                yield mapping

    def _request_id(self, tool: Tool) -> Any:
        holders = (self.invocation, *self.mappings(tool))
        members = ("request_id", "jsonrpc_request_id")
        return next(
            (holder[name] for holder in holders for name in members if name in holder), None
        )


def is_progress(note: Note) -> bool:
    """Return whether a note is about progress."""
    return note.kind == "Progress" or note.name == "tool.invocation.progress"


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
