"""What each object of Agent Tool does to the steps.

    Invocation, Result         a step: `execute_tool`, from the request to the end
    about an invocation        span events of its step: decisions, hooks, mutations, progress,
                               persistence, and every event under its own name
    declarations, surfaces     span events of the step around, or a step of their own

An event may hold the objects it is about, in `data`: by themselves, or by name. An object that
nobody has an event for is noted under the name of the event that would tell of it.

A step ends when the invocation has ended and its result is there. Where content is kept and the
result does not say whether it is redacted, it ends when something is told ten seconds later, or
with `close`: it may still be redacted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

from agentool_otel.event_streams.agent_tool.ending import end
from agentool_otel.event_streams.agent_tool.facts import facts_of
from agentool_otel.event_streams.agent_tool.invocation import Call, Note
from agentool_otel.event_streams.agent_tool.objects_on_spans import put_object
from agentool_otel.event_streams.agent_tool.outcomes import STATE_OF_EVENT, TERMINAL
from agentool_otel.event_streams.agent_tool.timing import latest_of, time_of
from agentool_otel.event_streams.agent_tool.tools import Tools
from agentool_otel.event_streams.agent_tool.withholding import Withheld
from agentool_otel.event_streams.recording import Recorder, Step
from agentool_otel.model.agent_tool.checking import identify
from agentool_otel.model.operations import ToolExecution, Unclassified
from agentool_otel.semconv import gen_ai

__all__ = ["AgentToolEvents"]

S = TypeVar("S", bound=Step)
Object = Mapping[str, Any]

_CALLS = 10_000
"""Invocations kept in memory, and as many that have ended; the oldest end then."""
_GRACE_NS = 10_000_000_000
"""How long after its end an invocation may still be told of."""
_TIMES = ("time", "decided_at", "timestamp", "ended_at", "started_at", "created_at")


class AgentToolEvents(Generic[S]):
    """Turns objects into steps."""

    def __init__(self, recorder: Recorder[S]):
        self._recorder = recorder
        self._tools = Tools()
        self._calls: OrderedDict[str, Call[S]] = OrderedDict()
        self._over: dict[str, None] = {}
        """Those that have ended, or have a result, in the order in which they were told of last."""
        self._ended: OrderedDict[str, _Ended[S]] = OrderedDict()

    def read(self, members: Object, now_ns: int) -> dict[str, Any] | None:
        """Read one object.

        Args:
            members: the object, as JSON.
            now_ns: when it was told of, if it does not say when it was.

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
        self._settle(at_ns)
        if kind == "Event":
            return self._read_event(members, at_ns)
        invocation_id = members.get("invocation_id")
        if not isinstance(invocation_id, str):
            self._read_apart(kind, members, at_ns)
            return dict(members)
        self._read_object(kind, members, invocation_id, at_ns, noted=False)
        self._end_if_over(invocation_id)
        return self._referring(kind, members, invocation_id)

    def step(self, invocation_id: str) -> S | None:
        """Return the step of an invocation under way."""
        call = self._calls.get(invocation_id)
        return None if call is None else call.step

    def close(self) -> None:
        """End everything under way: nothing more is told."""
        for invocation_id in list(self._calls):
            self._end(invocation_id)

    # ------------------------------------------------------------------------------- reading

    def _read_event(self, event: Object, at_ns: int) -> dict[str, Any]:
        name = str(event.get("event_type"))
        invocation_id = event.get("invocation_id")
        inner = list(_objects_in(event, invocation_id))
        if not isinstance(invocation_id, str):
            invocation_id = next((it["invocation_id"] for _, _, it in inner
                                  if isinstance(it.get("invocation_id"), str)), None)  # fmt: skip
        if invocation_id is None:
            for kind, _, members in inner:
                self._learn(kind, members)
            self._note_apart(name, "Event", event, at_ns)
            return dict(event)
        self._call(invocation_id, event, at_ns)
        for kind, _, members in inner:
            self._read_object(kind, members, invocation_id, at_ns, noted=True)
        self._tell(name, event, invocation_id, at_ns)
        self._end_if_over(invocation_id)
        return self._event_referring(event, inner, invocation_id)

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
            noted: whether an event tells of it, so that it needs no span event of its own.
        """
        call = self._call(invocation_id, members, at_ns)
        name = _event_name(kind, members)
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

    def _read_apart(self, kind: str, members: Object, at_ns: int) -> None:
        self._learn(kind, members)
        self._note_apart(_event_name(kind, members), kind, members, at_ns)

    def _learn(self, kind: str, members: Object) -> None:
        if kind == "ToolDeclaration":
            self._tools.declare(members)
        elif kind == "PermissionProfile":
            self._tools.profile(members)

    # -------------------------------------------------------------------------------- steps

    def _call(self, invocation_id: str, members: Object, at_ns: int) -> Call[S] | None:
        """Return an invocation under way, known or new; None if it has ended."""
        if invocation_id in self._ended:
            return None
        call = self._calls.get(invocation_id)
        if call is None:
            start_ns = time_of(members, "created_at", "started_at", "time") or at_ns
            call = self._begin(invocation_id, members, start_ns)
        return call

    def _begin(self, invocation_id: str, members: Object, at_ns: int) -> Call[S]:
        inner = next((it for kind, _, it in _objects_in(members, invocation_id)
                      if kind == "Invocation"), members)  # fmt: skip
        tool = self._tools.tool(members.get("tool_id") or inner.get("tool_id"))
        call_id = inner.get("native_call_id")
        operation = ToolExecution(
            name=tool.name,
            call_id=call_id if isinstance(call_id, str) else invocation_id,
            tool_type=tool.tool_type,
            description=tool.description,
        )
        above = self._calls.get(str(inner.get("parent_invocation_id")))
        step = self._recorder.start(operation, None if above is None else above.step, at_ns)
        call = Call(step, invocation_id, at_ns, self._recorder.room())
        self._calls[invocation_id] = call
        if len(self._calls) > _CALLS:
            self._end(next(iter(self._calls)))
        return call

    def _end_if_over(self, invocation_id: str) -> None:
        call = self._calls.get(invocation_id)
        if call is None:
            return
        if call.state in TERMINAL or call.result:
            self._over.pop(invocation_id, None)
            self._over[invocation_id] = None
        if not call.ended:
            return
        if call.decided or not self._recorder.wants_content(call.step):
            self._end(invocation_id)

    def _settle(self, at_ns: int) -> None:
        """End what is over for so long that nothing more is told of it."""
        while self._over:
            invocation_id = next(iter(self._over))
            if at_ns - self._calls[invocation_id].last_ns < _GRACE_NS:
                break
            self._end(invocation_id)

    def _end(self, invocation_id: str) -> None:
        call = self._calls.pop(invocation_id)
        self._over.pop(invocation_id, None)
        tool = self._tools.tool(call.invocation.get("tool_id"))
        guard = end(call, tool)
        self._ended[invocation_id] = _Ended(call.step, call.reference(tool), guard)
        if len(self._ended) > _CALLS:
            self._ended.popitem(last=False)

    # ------------------------------------------------------------------- what is apart from them

    def _note_apart(
        self, name: str, kind: str, members: Object, at_ns: int, invocation_id: str | None = None
    ) -> None:
        """Tell of what belongs to no invocation under way: on the step around, else on its own.

        What comes after the end of an invocation is told by its facts alone.
        """
        ended = self._ended.get(invocation_id or "")
        guard = Withheld(self._tools.tool(members.get("tool_id")).sensitive)
        if ended is not None:
            guard = ended.guard
        guard.learn(members)
        attributes = put_object(kind, guard.without(members), content=ended is None)
        around = self._recorder.around() if ended is None else None
        if around is not None:
            around.note(name, attributes, at_ns)
            return
        operation = Unclassified(extra={gen_ai.OPERATION_NAME: name})
        step = self._recorder.start(operation, None if ended is None else ended.step, at_ns)
        step.note(name, attributes, at_ns)
        step.end(at_ns)

    # ---------------------------------------------------------------------------- references

    def _reference(self, invocation_id: str) -> dict[str, Any] | None:
        call = self._calls.get(invocation_id)
        if call is not None:
            return call.reference(self._tools.tool(call.invocation.get("tool_id")))
        ended = self._ended.get(invocation_id)
        return None if ended is None else ended.reference

    def _referring(self, kind: str, members: Object, invocation_id: str) -> dict[str, Any]:
        """Return an object with the reference to its telemetry."""
        reference = self._reference(invocation_id)
        if reference is None or kind not in ("Invocation", "Result"):
            return dict(members)
        return {**members, "telemetry_refs": _added(members.get("telemetry_refs"), reference)}

    def _event_referring(
        self, event: Object, inner: list[tuple[str, str | None, Object]], invocation_id: str
    ) -> dict[str, Any]:
        reference = self._reference(invocation_id)
        if reference is None:
            return dict(event)
        data: dict[str, Any] = dict(event["data"]) if inner else {}
        for kind, name, members in inner:
            told = self._referring(kind, members, invocation_id)
            if told != members:
                data = told if name is None else {**data, name: told}
        written = {**event, "trace_refs": _added(event.get("trace_refs"), reference)}
        return {**written, "data": data} if inner else written


class _Ended(Generic[S]):
    """An invocation that has ended."""

    __slots__ = ("guard", "reference", "step")

    def __init__(self, step: S, reference: dict[str, Any] | None, guard: Withheld):
        self.step = step
        self.reference = reference
        """Where its telemetry is."""
        self.guard = guard
        """What must not leave of it."""


_EVENT_NAMES = {
    "ToolDeclaration": "tool.declared",
    "ToolSurface": "tool.surface.created",
    "DeferredTool": "tool.deferred.discovered",
    "PermissionDecision": "tool.permission.decided",
    "Progress": "tool.invocation.progress",
    "ResultPersistence": "tool.result.persisted",
    "Invocation": "agenttool.invocation",
    "Result": "tool.result.created",
    "InputMutation": "agenttool.input_mutation",
    "ToolInterface": "agenttool.interface",
    "ExecutionProfile": "agenttool.execution_profile",
    "PermissionProfile": "agenttool.permission_profile",
    "SchedulerPolicy": "agenttool.scheduler_policy",
}
"""The event that tells of an object; those that the specification has none for are ours."""

_HELD = (
    "declaration", "tool_declaration", "tool", "interface", "tool_interface", "permission_profile",
    "execution_profile", "scheduler_policy", "surface", "tool_surface", "deferred_tool",
    "invocation", "tool_invocation", "decision", "permission_decision", "hook", "mutation",
    "input_mutation", "progress", "persistence", "result_persistence", "result", "tool_result",
)  # fmt: skip
"""Members of an event's `data` that may be objects, in the order in which they are read."""


def _event_name(kind: str, members: Object) -> str:
    if kind == "Hook":
        word = str(members.get("hook_event"))
        when = next((it for it in ("pre", "post") if word.startswith(it)), None)
        if when is None:
            return "agenttool.hook"
        return f"tool.hook.{when}.{'completed' if members.get('ended_at') else 'started'}"
    if kind == "DeferredTool" and members.get("loading_state") == "loaded":
        return "tool.deferred.loaded"
    return _EVENT_NAMES[kind]


def _objects_in(event: Object, invocation_id: object) -> Iterator[tuple[str, str | None, Object]]:
    """Yield type, name and members of the objects in an event's `data`; no name if it is one."""
    data = event.get("data")
    if not isinstance(data, Mapping):
        return
    known = {"invocation_id": invocation_id} if isinstance(invocation_id, str) else {}
    cls = identify(data)
    if cls is not None and cls.__name__ != "Event":
        yield cls.__name__, None, {**known, **data}
        return
    for name in _HELD:
        members = data.get(name)
        if not isinstance(members, Mapping):
            continue
        cls = identify(members)
        if cls is not None and cls.__name__ != "Event":
            yield cls.__name__, name, {**known, **members}


def _without_payloads(event: Object) -> Object:
    """Return an event that tells of an Invocation or a Result by its facts alone: the whole of it
    is on the span."""
    held = [
        (name, members)
        for kind, name, members in _objects_in(event, None)
        if kind in ("Invocation", "Result")
    ]
    if not held:
        return event
    data = dict(event["data"])
    for name, members in held:
        if name is None:
            data = facts_of(members)
        else:
            data[name] = facts_of(members)
    return {**event, "data": data}


def _added(references: object, reference: dict[str, Any]) -> list[Any]:
    """Return references with one more, in place of an earlier one to the same span."""
    given = references if isinstance(references, (list, tuple)) else ()
    span_id = reference["span_id"]
    others = [it for it in given if not isinstance(it, Mapping) or it.get("span_id") != span_id]
    return [*others, reference]
