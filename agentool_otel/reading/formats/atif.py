"""ATIF trajectories, as Harbor reads them: one JSON line per trace.

Spec: Agent Trajectory Interchange Format v1.7 (Harbor, `rfcs/0001-trajectory-format.md`). Version
1.7 is the first with `trajectory_id` and with `extra` at tool calls and results.

    input       step of the user           tool_call    tool_calls of a step of the agent
    reasoning   reasoning_content          tool_result  its observation
    output      message of the agent       all others   step of the system

What has no member of its own stands in `extra.agentool` of the same place, so nothing is lost.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.times import to_ns
from agentool_otel.reading.formats.kit.format import LINES, Converted, Loss
from agentool_otel.reading.formats.kit.members import as_arguments, as_text, body_of, left_over
from agentool_otel.reading.formats.kit.turns import Call, Turn, turns_of

__all__ = ["Atif"]

_VERSION = "ATIF-v1.7"
_UNKNOWN = "unknown"
_OF_TRACE = ("trace_id", "agent_id", "session_id", "input", "output", "steps", "metrics")
_OF_THOUGHT = ("timestamp", "reasoning.content")
_OF_CALL = ("tool_call.id", "tool_call.name", "tool_call.arguments")
_OF_RESULT = ("tool_result.call_id", "tool_result.output")

_Object = dict[str, Any]


class Atif:
    """Trajectories as Harbor validates them."""

    name = "atif"
    framing = LINES

    def write(self, trace: ReasoningTrace) -> Converted:
        document = trace.to_dict()
        return _Writing(document).written()


class _Writing:
    def __init__(self, document: _Object):
        self._document = document
        self._steps: list[_Object] = []
        self._losses: list[Loss] = []
        metadata = document.get("metadata")
        children = metadata.get("sub_traces") if isinstance(metadata, dict) else None
        handoffs = [step for step in document["steps"] if step["type"] == "handoff"]
        self._children: list[str] = []
        """The trace each handoff leads to, where it is known which leads to which."""
        if isinstance(children, list) and len(children) == len(handoffs):
            self._children = [str(child) for child in children]

    def written(self) -> Converted:
        document, losses = self._document, self._losses
        if document.get("input") is not None:
            self._add(
                "user", document.get("started_at"), as_text(document["input"], "input", losses)
            )
        turns = turns_of(document)
        losses += turns.losses
        last: _Object | None = None
        for item in turns.items:
            if isinstance(item, Turn):
                step = self._turn(item)
                last = None if item.calls else step
            else:
                last = None
                self._other(item)
        if document.get("output") is not None:
            if last is None:
                last = self._add("agent", document.get("finished_at"), "")
            last["message"] = as_text(document["output"], "output", losses)
        if not self._steps:  # a trajectory has at least one
            self._add("system", None, "")
        return Converted(self._trajectory(), losses)

    def _trajectory(self) -> _Object:
        document = self._document
        trajectory: _Object = {"schema_version": _VERSION, "trajectory_id": document["trace_id"]}
        if document.get("session_id") is not None:
            trajectory["session_id"] = document["session_id"]
        agent = document.get("agent_id")
        trajectory["agent"] = {"name": _UNKNOWN if agent is None else agent, "version": _UNKNOWN}
        trajectory["steps"] = self._steps
        metrics = document.get("metrics")
        if isinstance(metrics, dict):
            trajectory["final_metrics"] = _final(metrics, len(self._steps))
        members = {name: value for name, value in document.items() if name not in _OF_TRACE}
        if members:
            trajectory["extra"] = {"agentool": members}
        return trajectory

    def _add(self, source: str, time: Any, message: str) -> _Object:
        step: _Object = {"step_id": len(self._steps) + 1}
        if isinstance(time, str) and to_ns(time) is not None:
            step["timestamp"] = time
        step |= {"source": source, "message": message}
        self._steps.append(step)
        return step

    def _turn(self, turn: Turn) -> _Object:
        parts = [*turn.thoughts, *(call.step for call in turn.calls)]
        step = self._add("agent", parts[0].get("timestamp"), "")
        if turn.thoughts:
            step["reasoning_content"] = "\n\n".join(
                as_text(
                    thought["content"], "reasoning.content", self._losses, thought.get("step_id")
                )
                for thought in turn.thoughts
            )
        for thought in turn.thoughts[1:]:
            reason = "joined to the thought before it"
            self._losses.append(Loss("normalised", "reasoning", reason, thought.get("step_id")))
        if turn.calls:
            step["tool_calls"] = [self._call(call) for call in turn.calls]
            results = [self._result(call) for call in turn.calls if call.result is not None]
            if results:
                step["observation"] = {"results": results}
        carried = _OF_THOUGHT if "timestamp" in step else ("reasoning.content",)
        remainder = [
            left_over(thought, carried if n == 0 else carried[-1:])
            for n, thought in enumerate(turn.thoughts)
        ]
        if any(remainder):
            step["extra"] = {"agentool": {"reasoning": remainder}}
        return step

    def _call(self, call: Call) -> _Object:
        arguments = as_arguments(call.step, self._losses)
        tool_call = {"tool_call_id": call.id, "function_name": call.name, "arguments": arguments}
        return _with_extra(tool_call, left_over(call.step, _OF_CALL))

    def _result(self, call: Call) -> _Object:
        assert call.result is not None
        body, step_id = body_of(call.result), call.result.get("step_id")
        result: _Object = {"source_call_id": call.id}
        if body.get("output") is not None:
            text = as_text(body["output"], "tool_result.output", self._losses, step_id)
            result["content"] = text
        elif isinstance(body.get("error"), str):
            reason = "written as the content of the result, and kept in its `extra`"
            self._losses.append(Loss("normalised", "tool_result.error", reason, step_id))
            result["content"] = body["error"]
        return _with_extra(result, left_over(call.result, _OF_RESULT))

    def _other(self, step: _Object) -> None:
        kind, step_id = step["type"], step.get("step_id")
        reason = "a step of the system, in words and in its `extra`"
        self._losses.append(Loss("normalised", kind, reason, step_id))
        system_step = self._add("system", step.get("timestamp"), _words(step))
        system_step["extra"] = {"agentool": step}
        if kind == "handoff" and self._children:
            child = {"trajectory_id": self._children.pop(0)}
            system_step["observation"] = {"results": [{"subagent_trajectory_ref": [child]}]}


def _words(step: _Object) -> str:
    match step["type"]:
        case "handoff":
            title, value = f"Handoff to {step.get('to_agent')}", step.get("message")
        case "memory_read":
            title, value = "Memory read", step.get("query")
        case "memory_write":
            title, value = "Memory write", step.get("key")
        case kind:
            title, value = str(kind).replace("_", " ").capitalize(), step.get("content")
    if value is None:
        return title
    return f"{title}: {value if isinstance(value, str) else dumps(value)}"


def _final(metrics: _Object, steps: int) -> _Object:
    remainder = dict(metrics)
    final_metrics: _Object = {"total_steps": steps}
    if isinstance(remainder.get("total_cost_usd"), (int, float)):
        final_metrics["total_cost_usd"] = remainder.pop("total_cost_usd")
    return _with_extra(final_metrics, remainder)


def _with_extra(written: _Object, extra: _Object) -> _Object:
    return {**written, "extra": {"agentool": extra}} if extra else written
