"""Set the attributes of an invocation's span when it ends; data that is withheld is left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from agentool_otel.ground.json_codec import canonical
from agentool_otel.integrations.agent_tool.events.facts import facts_of
from agentool_otel.integrations.agent_tool.events.invocation import PAYLOAD, Call, Note, is_progress
from agentool_otel.integrations.agent_tool.events.objects_on_spans import (
    put_object,
    typed_attributes,
)
from agentool_otel.integrations.agent_tool.events.outcomes import error_type_of
from agentool_otel.integrations.agent_tool.events.timing import transitions_of
from agentool_otel.integrations.agent_tool.events.tools import Tool
from agentool_otel.integrations.agent_tool.events.withholding import Withheld
from agentool_otel.semconv import agent_tool as names
from agentool_otel.semconv import agentool, core, mcp

__all__ = ["end"]

Object = Mapping[str, Any]

_OUTPUT = (*PAYLOAD, "ui_facing_summary", "summary", "updated_output")
"""Members that hold what a tool gave."""
_TELLING = 12
"""Texts of a redacted payload that are as long are taken out wherever else they are repeated."""
_TRANSITION = "a status transition"
_ABOUT_INPUT = frozenset({"PermissionDecision", "InputMutation"})
"""Objects that come before there is a payload."""
_NEVER_ENDED = {agentool.INCOMPLETE: True, agentool.TOOL_INCOMPLETE: "call_only"}
_MCP = {
    "mcp_session_id": mcp.SESSION_ID,
    "mcp_protocol_version": mcp.PROTOCOL_VERSION,
    "jsonrpc_request_id": core.JSONRPC_REQUEST_ID,
}


def end(call: Call[Any], tool: Tool) -> Withheld:
    """Write an invocation, end its step, and return its withheld data."""
    try:
        return _Ending(call, tool).write()
    finally:  # whatever could not be written
        call.step.end(call.end_ns)


class _Ending:
    def __init__(self, call: Call[Any], tool: Tool):
        self._call = call
        self._tool = tool
        self._transitions = transitions_of(call.invocation)
        call.timing.fill(self._transitions)
        self._guard = _guard(call, tool)
        self._sealed = tool.withheld or self._guard.overfull
        """Whether all content is withheld."""
        if self._sealed:
            call.withhold(call.withheld or "redaction_required")
        inputs = {name: call.invocation[name] for name in names.INPUTS if name in call.invocation}
        self._inputs: dict[str, Any] = (
            {} if self._sealed else self._guard.remove_from(inputs, "Invocation")
        )

    def write(self) -> Withheld:
        call, tool, guard = self._call, self._tool, self._guard
        self._write_objects()
        call.step.mark({name: guard.remove_from(label) for name, label in self._labels().items()})
        if not call.over:
            call.step.mark(_NEVER_ENDED)
        self._write_content()
        call.step.set(
            name=tool.name,
            call_id=guard.remove_from(call.call_id),
            tool_type=tool.tool_type,
            description=tool.description,
            error_type=guard.remove_from(error_type_of(call.result, call.state)),
            duration_ms=call.timing.run_ms,
        )
        for note in self._notes():
            call.step.note(note.name, self._event_attributes(note), note.at_ns)
        return guard

    # ------------------------------------------------------------------------------- its objects

    def _write_objects(self) -> None:
        call = self._call
        if call.invocation:
            call.step.mark(self._put("Invocation", call.invocation, content=True))
        if call.result:
            call.step.mark(self._put("Result", call.result, content=call.withheld is None))

    def _put(self, kind: str, members: Object, *, content: bool) -> dict[str, Any]:
        """Return the attributes of an object, without withheld data."""
        content = content and not self._sealed
        shown = members if content else facts_of(members)
        return put_object(kind, self._guard.remove_from(shown, kind), content=content)

    def _write_content(self) -> None:
        call, guard, inputs = self._call, self._guard, self._inputs
        if inputs:
            last = [name for name in names.INPUTS if name in inputs][-1]
            call.step.add(lambda: {"arguments": inputs[last]})
        if call.withheld is not None:
            return
        payload = next((item for item in PAYLOAD if item in call.result), None)
        if payload is not None:
            call.step.add(lambda: {"result": guard.remove_from(call.result[payload])})
        message = self._error().get("message")
        if isinstance(message, str):
            call.step.add(lambda: {"tool_error": guard.remove_from(message)})

    def _error(self) -> Object:
        error = self._call.result.get("error")
        return error if isinstance(error, Mapping) else {}

    # -------------------------------------------------------------------------------- its events

    def _notes(self) -> Iterator[Note]:
        """Yield all notes by their times, updates of progress by their sequence."""
        call = self._call
        room = max(call.room - len(call.notes), 0)
        transitions = (
            Note(names.EVENT_STATUS, _TRANSITION, {"state": state}, at_ns)
            for state, at_ns in self._transitions[:room]
        )
        progress = iter(sorted(call.progress, key=_sequence))
        notes = sorted((*call.notes, *call.progress, *transitions), key=lambda note: note.at_ns)
        for note in notes:
            yield next(progress) if is_progress(note) else note

    def _event_attributes(self, note: Note) -> dict[str, Any]:
        """Return the attributes of a span event."""
        if note.kind == _TRANSITION:
            return {names.INVOCATION_STATUS: self._guard.remove_from(note.members["state"])}
        content = self._call.withheld is None or note.kind in _ABOUT_INPUT
        return self._put(note.kind, note.members, content=content)

    # ----------------------------------------------------------------- what it is looked for by

    def _labels(self) -> dict[str, Any]:
        call, tool = self._call, self._tool
        return typed_attributes({
            names.INVOCATION_ID: call.id,
            names.INVOCATION_STATUS: call.state,
            names.TOOL_NAMESPACE: tool.namespace,
            names.TOOL_KIND: tool.kind,
            names.INPUT_MUTATED: self._input_was_changed() or None,
            names.INPUT_MUTATED_BY: call.mutated_by,
            names.QUEUE_MS: call.timing.queue_ms,
            names.RUN_MS: call.timing.run_ms,
            names.APPROVAL_MS: call.timing.approval_ms,
            names.PROGRESS_COUNT: call.progress_count or None,
            names.PROGRESS_DROPPED: call.progress_count - len(call.progress) or None,
            names.EVENTS_DROPPED: call.dropped or None,
            names.WITHHELD: call.withheld,
            names.RESULT_PAYLOAD: self._payload(),
            names.RESULT_SIZE_BYTES: call.size_bytes() if call.result else None,
            names.ERROR_CODE: self._error().get("error_code"),
            names.ERROR_RECOVERABILITY: self._error().get("recoverability"),
            **self._native(),
        })  # fmt: skip

    def _input_was_changed(self) -> bool:
        """Return whether an input was changed, or the known inputs differ."""
        invocation = self._call.invocation
        values = {canonical(invocation[name]) for name in names.INPUTS if name in invocation}
        return bool(self._call.mutated_by) or len(values) > 1

    def _payload(self) -> str | None:
        result = self._call.result
        if not result:
            return None
        if self._call.withheld is not None:
            return "withheld"
        payloads = [result[item] for item in PAYLOAD if item in result]
        if not payloads:
            return "missing"
        return "present" if any(item not in (None, "", [], {}) for item in payloads) else "empty"

    def _native(self) -> dict[str, Any]:
        """Return its MCP call in the words of the conventions."""
        attributes: dict[str, Any] = {}
        for mapping in self._call.mappings(self._tool):
            for member, name in _MCP.items():
                if member in mapping:
                    attributes[name] = mapping[member]
        return attributes


def _guard(call: Call[Any], tool: Tool) -> Withheld:
    """Return the withheld data, collected from all objects."""
    guard = Withheld(tool.sensitive)
    objects = [("Invocation", call.invocation), ("Result", call.result)]
    objects += [(note.kind, dict(note.members)) for note in (*call.notes, *call.progress)]
    for kind, members in objects:
        guard.learn(members, kind)
    for replaced in call.earlier:
        guard.learn([*replaced.values()])
    if call.withheld is not None or tool.withheld:
        for holder in (*(members for _, members in objects), *call.earlier):
            guard.forbid([*_outputs(holder)], _TELLING)
    if call.forgotten and (tool.sensitive or call.withheld is not None):
        guard.overfull = True
    guard.limit(call.size)
    return guard


def _outputs(members: Object) -> Iterator[Any]:
    """Yield the outputs of a tool that an object, or the objects in an event, have."""
    data = members.get("data")
    values = [data, *data.values()] if isinstance(data, Mapping) else []
    for holder in (members, *values):
        if isinstance(holder, Mapping):
            yield from (holder[item] for item in _OUTPUT if item in holder)


def _sequence(note: Note) -> float:
    data = note.members.get("data")
    data = data if isinstance(data, Mapping) else {}
    inner = data.get("progress")
    holders = (note.members, data, inner if isinstance(inner, Mapping) else {})
    values = (holder.get("sequence") for holder in holders)
    return next((value for value in values if isinstance(value, (int, float))), float("inf"))
