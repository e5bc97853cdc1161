"""Effect of each object of Agent Tool on the steps.

    Invocation, Result         a step: `execute_tool`, from the request to the end
    about an invocation        span events of its step: decisions, hooks, mutations, progress,
                               persistence, and every event under its own name
    declarations, surfaces     span events of the parent step, or a step of their own

An event may hold the objects it is about, in `data`: by themselves, or by name. An object that
nobody has an event for is noted under the name of the event that would report it.

A step ends when the invocation has ended and its result is there. Where content is kept and the
result has no redaction state, it ends with an object that comes ten seconds later, or with `close`:
it may still be redacted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from time import monotonic_ns
from typing import Any, Generic, TypeVar

from agentool_otel.content.policy import label
from agentool_otel.integrations.agent_tool.documents.checking import identify
from agentool_otel.integrations.agent_tool.events.ending import end
from agentool_otel.integrations.agent_tool.events.event_objects import Held, event_name, objects_in
from agentool_otel.integrations.agent_tool.events.facts import facts_of
from agentool_otel.integrations.agent_tool.events.invocation import Call, Note
from agentool_otel.integrations.agent_tool.events.objects_on_spans import put_object
from agentool_otel.integrations.agent_tool.events.outcomes import STATE_OF_EVENT
from agentool_otel.integrations.agent_tool.events.timing import latest_of, time_of
from agentool_otel.integrations.agent_tool.events.tools import Tools
from agentool_otel.integrations.agent_tool.events.withholding import Withheld
from agentool_otel.model.operations import ToolExecution, Unclassified
from agentool_otel.model.recorder import Recorder, Step
from agentool_otel.semconv import agent_tool as names
from agentool_otel.semconv import gen_ai

__all__ = ["AgentToolEvents"]

S = TypeVar("S", bound=Step)
Object = Mapping[str, Any]

_CALLS = 10_000
"""Invocations kept in memory; the oldest end then."""
_CHARACTERS = 100_000_000
"""Most characters of their objects."""
_ENDED = 1_000
"""Most ended invocations that are remembered for late objects."""
_GUARD = 100_000
"""Most characters of secrets that are kept per invocation; with more, all content is withheld."""
_GRACE_NS = 10_000_000_000
"""Time after its end during which an invocation may still be updated."""
_TIMES = ("time", "decided_at", "timestamp", "ended_at", "started_at", "created_at")
_FIRST = frozenset({"tool.invocation.planned", "tool.invocation.selected"})
"""Events with which an invocation begins."""
_OF_TOOLS = frozenset({"ToolDeclaration", "ToolInterface", "DeferredTool"})
"""Objects that hold no data of a tool."""


class AgentToolEvents(Generic[S]):
    """Turns objects into steps."""

    def __init__(self, recorder: Recorder[S], clock: Callable[[], int] = monotonic_ns):
        """
        Args:
            recorder: keeps the steps.
            clock: nanoseconds that have passed, from any point on; never backwards.
        """
        self._recorder = recorder
        self._clock = clock
        self._tools = Tools()
        self._calls: OrderedDict[str, Call[S]] = OrderedDict()
        self._size = 0
        """Characters of their objects."""
        self._over: dict[str, int] = {}
        """Invocations that have ended or have a result, by the time of their last object on our
        clock.
        """
        self._ended: OrderedDict[str, _Ended[S]] = OrderedDict()

    def read(self, members: Object, now_ns: int, size: int = 0) -> dict[str, Any] | None:
        """Read one object.

        Args:
            members: the object, as JSON.
            now_ns: when it was reported, if it does not say when it was.
            size: how many characters it has, as far as they are to be limited.

        Returns:
            The object; an Invocation or a Result with the reference to its telemetry among its
            `telemetry_refs`, and so too inside an event, which has it among its `trace_refs`. None
            if it is no object of Agent Tool.
        """
        cls = identify(members)
        if cls is None:
            return None
        kind = cls.__name__
        told_ns = latest_of(members) if kind == "Invocation" else time_of(members, *_TIMES)
        at_ns = now_ns if told_ns is None else told_ns
        self._end_old()
        if kind == "Event":
            return self._read_event(members, at_ns, size)
        invocation_id = self.about(members)
        if invocation_id is None:
            self._tools.learn(kind, members)
            self._note_apart(event_name(kind, members), kind, members, at_ns)
            return dict(members)
        self._read_object(kind, members, invocation_id, at_ns, noted=False)
        self._grow(kind, invocation_id, size)
        self._end_if_over(invocation_id)
        return self._referring(kind, members, invocation_id)

    def about(self, members: Object) -> str | None:
        """Return the id of the invocation that an object is about; None for none.

        An event may leave it to what it holds, or to its `subject`, and what becomes of a result to
        the id of the result.
        """
        for item in (members, *(obj.members for obj in objects_in(members))):
            if isinstance(invocation_id := item.get("invocation_id"), str):
                return invocation_id
        subject, result_id = members.get("subject"), members.get("result_id")
        if isinstance(subject, str) and (subject in self._calls or subject in self._ended):
            return subject
        if not isinstance(result_id, str):
            return None
        return next(
            (call.id for call in self._calls.values() if call.result.get("result_id") == result_id),
            None,
        )

    def step(self, invocation_id: str) -> S | None:
        """Return the step of an invocation under way."""
        call = self._calls.get(invocation_id)
        return None if call is None else call.step

    def close(self) -> None:
        """End all open invocations."""
        while self._calls:
            self._end(next(iter(self._calls)))

    def leave(self) -> None:
        """Forget everything under way: it ends elsewhere."""
        self._calls.clear()
        self._over.clear()
        self._ended.clear()
        self._size = 0

    # ------------------------------------------------------------------------------- reading

    def _read_event(self, event: Object, at_ns: int, size: int) -> dict[str, Any]:
        name = label(event.get("event_type"))
        objects = list(objects_in(event))
        invocation_id = self.about(event)
        if invocation_id is None:
            for item in objects:
                self._tools.learn(item.kind, item.members)
            self._note_apart(name, "Event", event, at_ns)
            return dict(event)
        self._call(invocation_id, event, at_ns)
        about: list[str] = []
        for item in objects:
            own_id = item.members.get("invocation_id")
            about.append(own_id if isinstance(own_id, str) else invocation_id)
            self._read_object(item.kind, item.members, about[-1], at_ns, noted=True)
        self._tell(name, event, invocation_id, at_ns)
        self._grow("Event", invocation_id, size)
        for each in dict.fromkeys([*about, invocation_id]):
            self._end_if_over(each)
        return self._event_referring(event, list(zip(objects, about, strict=True)), invocation_id)

    def _tell(self, name: str, event: Object, invocation_id: str, at_ns: int) -> None:
        call = self._calls.get(invocation_id)
        if call is None:
            self._note_apart(name, "Event", event, at_ns, invocation_id)
            return
        call.link(event.get("trace_refs"))
        state = STATE_OF_EVENT.get(name)
        if state is not None:
            call.enter(state, at_ns)
        if name == "tool.result.redacted":
            call.withhold(call.withheld or "redacted")
        call.note(Note(name, "Event", _without_payloads(event), at_ns))

    def _read_object(
        self, kind: str, members: Object, invocation_id: str, at_ns: int, *, noted: bool
    ) -> None:
        """Read an object about an invocation.

        Args:
            kind: its type.
            members: the object.
            invocation_id: the invocation it is about.
            at_ns: when.
            noted: whether an event reports it, so that it needs no span event of its own.
        """
        self._tools.learn(kind, members)
        call = self._call(invocation_id, members, at_ns)
        name = event_name(kind, members)
        if call is None:
            self._note_apart(name, kind, members, at_ns, invocation_id)
            return
        call.link(members.get("telemetry_refs"))
        call.last_ns = max(call.last_ns, at_ns)
        if kind == "Invocation":
            call.take_invocation(members, at_ns)
        elif kind == "Result":
            call.take_result(members)
        else:
            self._take(call, kind, members, at_ns)
            if not noted:
                call.note(Note(name, kind, members, at_ns))

    @staticmethod
    def _take(call: Call[S], kind: str, members: Object, at_ns: int) -> None:
        if kind == "PermissionDecision":
            call.take_decision(members, at_ns)
        elif kind == "InputMutation":
            call.take_mutation(members)
        elif kind == "ResultPersistence":
            call.take_persistence(members)

    # -------------------------------------------------------------------------------- steps

    def _call(self, invocation_id: str, members: Object, at_ns: int) -> Call[S] | None:
        """Return an invocation under way, known or new; None if it has ended."""
        ended = self._ended.get(invocation_id)
        if ended is not None and not ended.is_followed_by(members):
            return None
        call = self._calls.get(invocation_id)
        if call is None:
            start_ns = time_of(members, "created_at", "started_at", "time") or at_ns
            call = self._begin(invocation_id, members, start_ns)
        call.tool_id = call.tool_id or members.get("tool_id")
        return call

    def _begin(self, invocation_id: str, members: Object, at_ns: int) -> Call[S]:
        self._ended.pop(invocation_id, None)
        invocations = (obj.members for obj in objects_in(members) if obj.kind == "Invocation")
        inner = next(invocations, members)
        tool = self._tools.tool(members.get("tool_id") or inner.get("tool_id"))
        call_id = inner.get("native_call_id")
        operation = ToolExecution(
            name=tool.name,
            call_id=call_id if isinstance(call_id, str) and call_id else invocation_id,
            tool_type=tool.tool_type,
            description=tool.description,
        )
        above_id = str(inner.get("parent_invocation_id"))
        above = self._calls.get(above_id) or self._ended.get(above_id)
        step = self._recorder.start(operation, None if above is None else above.step, at_ns)
        call = Call(step, invocation_id, at_ns, self._recorder.events_left())
        self._calls[invocation_id] = call
        if len(self._calls) > _CALLS:
            self._end(next(iter(self._calls)))
        return call

    def _grow(self, kind: str, invocation_id: str, size: int) -> None:
        """Add to the size of an invocation; the oldest ones end where the total is too large."""
        call = self._calls.get(invocation_id)
        if call is None or (call.is_full and kind not in ("Invocation", "Result")):
            return
        call.size += size
        self._size += size
        while self._size > _CHARACTERS:
            self._end(next(iter(self._calls)))

    def _end_if_over(self, invocation_id: str) -> None:
        call = self._calls.get(invocation_id)
        if call is None or not call.over:
            return
        self._over.pop(invocation_id, None)
        self._over[invocation_id] = self._clock()
        if call.ended and (call.decided or not self._recorder.wants_content(call.step)):
            self._end(invocation_id)

    def _end_old(self) -> None:
        """End invocations that have been over for so long that no late object is expected."""
        while self._over:
            invocation_id, since = next(iter(self._over.items()))
            if self._clock() - since < _GRACE_NS:
                break
            self._end(invocation_id)

    def _end(self, invocation_id: str) -> None:
        call = self._calls.pop(invocation_id)
        self._size -= call.size
        self._over.pop(invocation_id, None)
        tool = self._tools.tool(call.tool_id)
        guard = end(call, tool)
        self._ended[invocation_id] = _Ended(call, call.reference(tool), guard)
        if len(self._ended) > _ENDED:
            self._ended.popitem(last=False)

    # ------------------------------------------------------------------- what is apart from them

    def _note_apart(
        self, name: str, kind: str, members: Object, at_ns: int, invocation_id: str | None = None
    ) -> None:
        """Record an object without an open invocation: on the current step, else on its own.

        After the end of an invocation only facts are recorded: it is no longer known whether an
        object repeats redacted data.
        """
        ended = self._ended.get(invocation_id or "")
        attributes = (
            self._object_attributes(kind, members)
            if ended is None
            else ended.attributes_of(kind, members)
        )
        parent = self._recorder.current_foreign() if ended is None else None
        if parent is not None:
            parent.note(name, attributes, at_ns)
            return
        operation = Unclassified(extra={gen_ai.OPERATION_NAME: name})
        step = self._recorder.start(operation, None if ended is None else ended.step, at_ns)
        step.note(name, attributes, at_ns)
        step.end(at_ns)

    def _object_attributes(self, kind: str, members: Object) -> dict[str, Any]:
        """Return the attributes of an object that is about no invocation."""
        tool = self._tools.tool(members.get("tool_id"))
        guard = Withheld(tool.sensitive)
        guard.learn(members, kind)
        if (tool.withheld and kind not in _OF_TOOLS) or guard.overfull:
            facts = put_object(kind, guard.remove_from(facts_of(members), kind), content=False)
            return {**facts, names.WITHHELD: "redaction_required"}
        return put_object(kind, guard.remove_from(members, kind), content=True)

    # ---------------------------------------------------------------------------- references

    def _reference(self, invocation_id: str) -> dict[str, Any] | None:
        call = self._calls.get(invocation_id)
        if call is not None:
            return call.reference(self._tools.tool(call.tool_id))
        ended = self._ended.get(invocation_id)
        return None if ended is None else ended.reference

    def _referring(self, kind: str, members: Object, invocation_id: str) -> dict[str, Any]:
        """Return an object with the reference to its telemetry."""
        reference = self._reference(invocation_id)
        if reference is None or kind not in ("Invocation", "Result"):
            return dict(members)
        return {
            **members,
            "telemetry_refs": _add_reference(members.get("telemetry_refs"), reference),
        }

    def _event_referring(
        self, event: Object, objects: list[tuple[Held, str]], invocation_id: str
    ) -> dict[str, Any]:
        reference = self._reference(invocation_id)
        if reference is None:
            return dict(event)
        written: dict[str, Any] = {
            **event,
            "trace_refs": _add_reference(event.get("trace_refs"), reference),
        }
        for item, about in objects:
            attributes = self._referring(item.kind, item.members, about)
            written["data"] = (
                attributes if item.name is None else {**written["data"], item.name: attributes}
            )
        return written


class _Ended(Generic[S]):
    """An invocation that has ended."""

    __slots__ = ("_guard", "end_ns", "reference", "step")

    def __init__(self, call: Call[S], reference: dict[str, Any] | None, guard: Withheld):
        self.step = call.step.as_parent()
        self.end_ns = call.end_ns
        self.reference = reference
        """Reference to its telemetry."""
        self._guard = guard if guard.size <= _GUARD else None
        """Data of the invocation that is withheld; None if it is too large to be kept."""

    def attributes_of(self, kind: str, members: Object) -> dict[str, Any]:
        """Return the attributes of a late object: its facts only."""
        facts = {} if self._guard is None else facts_of(members)
        if self._guard is not None:
            self._guard.learn(members, kind)
            facts = self._guard.remove_from(facts, kind)
        return {**put_object(kind, facts, content=False), names.WITHHELD: "ended"}

    def is_followed_by(self, members: Object) -> bool:
        """Return whether an object begins another invocation with the same id, as a second run may
        have: its start time is after the end of this one.
        """
        event_type = members.get("event_type")
        if event_type is None:
            at_ns = time_of(members, "created_at")
        else:
            at_ns = time_of(members, "time") if str(event_type) in _FIRST else None
        return at_ns is not None and at_ns > self.end_ns


def _without_payloads(event: Object) -> Object:
    """Return an event with only the facts of its Invocation or Result: the whole is on the span."""
    data: Any = event.get("data")
    for obj in objects_in(event):
        if obj.kind in ("Invocation", "Result"):
            facts = facts_of(obj.members)
            data = facts if obj.name is None else {**data, obj.name: facts}
    return {**event, "data": data} if "data" in event else event


def _add_reference(references: object, reference: dict[str, Any]) -> list[Any]:
    """Return references with one more, in place of an earlier one to the same span."""
    value = references if isinstance(references, (list, tuple)) else ()
    span_id = reference["span_id"]
    others = [
        item for item in value if not isinstance(item, Mapping) or item.get("span_id") != span_id
    ]
    return [*others, reference]
