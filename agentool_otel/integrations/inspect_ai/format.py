"""Eval logs of Inspect and Inspect Scout: one JSON document, a sample per trace, with its messages
and its events.

Spec: inspect_ai `log/_log.py`, `event/_tool.py` and `event/_info.py`, log version 2 (0.3.285). It
is the form that `inspect view` shows and that Inspect Scout reads transcripts from.

    input, output, reasoning   messages of the user and the assistant
    tool_call, tool_result     tool calls and messages of the tool, and an event "tool"
    all others                 an event "info"

What has no member of its own stands under `agentool` in the metadata of the same place.
"""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.times import from_ns, to_ns
from agentool_otel.reading.formats.kit.format import Converted, Framing, Loss
from agentool_otel.reading.formats.kit.members import as_arguments, as_text, body_of, left_over
from agentool_otel.reading.formats.kit.turns import Call, Turn, turns_of

__all__ = ["Inspect"]

_SOURCE = "agentool"
_OF_TRACE = ("trace_id", "input", "output", "steps")
_OF_CALL = ("tool_call.id", "tool_call.name", "tool_call.arguments")
_OF_RESULT = ("tool_result.call_id", "tool_result.output", "tool_result.error")

_Object = dict[str, Any]


class Inspect:
    """Samples of a finished eval log that has no task, no model and no scores of its own."""

    name = "inspect"

    @property
    def framing(self) -> Framing:
        log = {
            "version": 2,
            "status": "success",
            "eval": {
                "created": datetime.now(timezone.utc).isoformat(timespec="seconds"),
                "task": "agent_traces",
                "dataset": {"name": "agent_traces"},
                "model": "none/none",  # Inspect's own word for no model
                "config": {},
            },
        }
        return Framing(dumps(log)[:-1].encode() + b',"samples":[', b",", b"]}")

    def write(self, trace: ReasoningTrace) -> Converted:
        return _Writing(trace.to_dict()).write()


class _Writing:
    def __init__(self, document: _Object):
        self._document = document
        self._losses: list[Loss] = []
        self._messages: list[_Object] = []
        self._events: list[_Object] = []
        self._start_ns = _ns(document.get("started_at"))
        self._now_ns = self._start_ns

    def write(self) -> Converted:
        document, losses = self._document, self._losses
        question = document.get("input")
        text = "" if question is None else as_text(question, "input", losses)
        if question is not None:
            self._messages.append({"role": "user", "content": text})
        turns = turns_of(document)
        losses += turns.losses
        last: _Object | None = None
        for item in turns.items:
            last = None
            if isinstance(item, Turn):
                message = self._turn(item)
                last = None if item.calls else message
            else:
                self._event("info", item, {"source": _SOURCE, "data": item})
        sample: _Object = {"id": document["trace_id"], "epoch": 1, "input": text, "target": ""}
        if document.get("output") is not None:
            if last is None:
                last = {"role": "assistant", "content": []}
                self._messages.append(last)
            output = as_text(document["output"], "output", losses)
            last["content"] = [*last["content"], {"type": "text", "text": output}]
            choice = {"message": last, "stop_reason": "unknown"}
            sample["output"] = {"choices": [choice], "completion": output}
        sample |= {"messages": self._messages, "events": self._events}
        self._times(sample)
        members = {name: value for name, value in document.items() if name not in _OF_TRACE}
        sample["metadata"] = {_SOURCE: members}
        return Converted(sample, losses)

    def _times(self, sample: _Object) -> None:
        end_ns = _ns(self._document.get("finished_at"))
        if self._start_ns is not None:
            sample["started_at"] = _time(self._start_ns)
        if end_ns is not None:
            sample["completed_at"] = _time(end_ns)
        if self._start_ns is not None and end_ns is not None:
            sample["total_time"] = (end_ns - self._start_ns) / 1e9

    def _turn(self, turn: Turn) -> _Object:
        content = [
            {
                "type": "reasoning",
                "reasoning": as_text(
                    step["content"], "reasoning.content", self._losses, step.get("step_id")
                ),
            }
            for step in turn.thoughts
        ]
        message: _Object = {"role": "assistant", "content": content}
        arguments = [as_arguments(call.step, self._losses) for call in turn.calls]
        if turn.calls:
            message["tool_calls"] = [
                {"id": call.id, "function": call.name, "arguments": args, "type": "function"}
                for call, args in zip(turn.calls, arguments, strict=True)
            ]
        steps = [*turn.thoughts, *(call.step for call in turn.calls)]
        carried = ("reasoning.content", *_OF_CALL)
        message["metadata"] = {_SOURCE: [left_over(step, carried) for step in steps]}
        self._messages.append(message)
        for call, args in zip(turn.calls, arguments, strict=True):
            self._tool(call, args)
        return message

    def _tool(self, call: Call, arguments: _Object) -> None:
        event: _Object = {"id": call.id, "function": call.name, "arguments": arguments}
        if call.result is not None:
            body, step_id = body_of(call.result), call.result.get("step_id")
            message: _Object = {"role": "tool", "tool_call_id": call.id, "function": call.name}
            output = body.get("output")
            text = (
                ""
                if output is None
                else as_text(output, "tool_result.output", self._losses, step_id)
            )
            message["content"] = event["result"] = text
            if body.get("error") is not None:
                error = as_text(body["error"], "tool_result.error", self._losses, step_id)
                message["error"] = event["error"] = {"type": "unknown", "message": error}
            message["metadata"] = {_SOURCE: left_over(call.result, _OF_RESULT)}
            self._messages.append(message)
            end_ns = _ns(call.result.get("timestamp"))
            if end_ns is not None:
                event["completed"] = _time(end_ns)
            duration = body.get("duration_ms")
            if isinstance(duration, (int, float)):
                event["working_time"] = duration / 1000
        self._event("tool", call.step, event)

    def _event(self, kind: str, step: _Object, body: _Object) -> None:
        """Add an event. It needs a time: a step without one has that of the step before it."""
        at_ns = _ns(step.get("timestamp"))
        step_id = step.get("step_id")
        if at_ns is None:
            at_ns = self._now_ns
            if at_ns is None:
                if kind == "info":  # a call is among the messages all the same
                    reason = "no event, for want of a time"
                    self._losses.append(Loss("lost", step["type"], reason, step_id))
                return
            reason = "a step without a time has that of the step before it"
            self._losses.append(Loss("normalised", "timestamp", reason, step_id))
        self._now_ns = at_ns
        since = (at_ns - self._start_ns) / 1e9 if self._start_ns is not None else 0.0
        event = {"event": kind, "timestamp": _time(at_ns), "working_start": max(since, 0.0), **body}
        self._events.append({**event, "metadata": {"step_id": step_id}} if step_id else event)


def _ns(time: Any) -> int | None:
    return to_ns(time) if isinstance(time, str) else None


def _time(ns: int) -> str:
    """A time as Inspect reads it: to the microsecond."""
    return from_ns(ns // 1000 * 1000)
