"""Eval sets of Google's Agent Development Kit: one JSON document, a case per trace.

Spec: google-adk `evaluation/eval_set.py` and `eval_case.py`, 1.0 to 2.13. `IntermediateData` is
written, which every version reads; the newer `InvocationEvents` would keep the order.

    input       user_content                   tool_call    intermediate_data.tool_uses
    output      final_response                 tool_result  intermediate_data.tool_responses
    reasoning   intermediate_data.intermediate_responses, as a thought of the agent
    handoff     a use of `transfer_to_agent`, by which ADK hands over
"""

from __future__ import annotations

from typing import Any

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.times import to_ns
from agentool_otel.reading.formats.kit.format import Converted, Framing, Loss
from agentool_otel.reading.formats.kit.members import as_arguments, as_text, body_of, uncarried

__all__ = ["AdkEvalSet"]

_TITLE = "an ADK eval case"
_TRANSFER = "transfer_to_agent"
_CARRIED = frozenset(
    {
        "trace_id",
        "started_at",
        "input",
        "output",
        "reasoning",
        "reasoning.content",
        "tool_call",
        "tool_call.id",
        "tool_call.name",
        "tool_call.arguments",
        "tool_result",
        "tool_result.call_id",
        "tool_result.output",
        "tool_result.error",
        "handoff",
        "handoff.to_agent",
    }
)

_Object = dict[str, Any]


class AdkEvalSet:
    """An eval set whose cases are an agent's runs: golden trajectories to compare with."""

    name = "adk-evalset"
    framing = Framing(b'{"eval_set_id":"agentool_traces","eval_cases":[', b",", b"]}")

    def write(self, trace: ReasoningTrace) -> Converted:
        document = trace.to_dict()
        losses = uncarried(document, _CARRIED, _TITLE)
        invocation: _Object = {
            "invocation_id": document["trace_id"],
            "user_content": {"role": "user", "parts": []},
        }
        if document.get("input") is not None:
            text = as_text(document["input"], "input", losses)
            invocation["user_content"]["parts"] = [{"text": text}]
        if document.get("output") is not None:
            text = as_text(document["output"], "output", losses)
            invocation["final_response"] = {"role": "model", "parts": [{"text": text}]}
        invocation["intermediate_data"] = _intermediate(document, losses)
        case: _Object = {"eval_id": document["trace_id"], "conversation": [invocation]}
        started = document.get("started_at")
        start_ns = to_ns(started) if isinstance(started, str) else None
        if start_ns is not None:
            case["creation_timestamp"] = invocation["creation_timestamp"] = start_ns / 1e9
            losses.append(Loss("normalised", "started_at", "written as seconds since 1970"))
        elif started is not None:
            losses.append(Loss("lost", "started_at", "it is no time"))
        return Converted(case, losses)


def _intermediate(document: _Object, losses: list[Loss]) -> _Object:
    author = document.get("agent_id")
    uses: list[_Object] = []
    answers: list[_Object] = []
    thoughts: list[Any] = []
    names: dict[str, str] = {}
    for step in document["steps"]:
        kind, step_id, body = step["type"], step.get("step_id"), body_of(step)
        if kind == "reasoning" and step.get("content") is not None:
            text = as_text(step["content"], "reasoning.content", losses, step_id)
            thoughts.append([author or "agent", [{"text": text, "thought": True}]])
            reason = "among the thoughts, not where it came between the calls"
            losses.append(Loss("normalised", "order", reason, step_id))
        elif kind == "tool_call" and body:
            call_id = body.get("id")
            name = str(body.get("name"))
            use = {"name": name, "args": as_arguments(step, losses)}
            uses.append(use if call_id is None else {"id": call_id, **use})
            if call_id is not None:
                names.setdefault(call_id, name)
        elif kind == "tool_result" and body:
            answers.append(_response(body, names, step_id, losses))
        elif kind == "handoff" and step.get("to_agent") is not None:
            uses.append({"name": _TRANSFER, "args": {"agent_name": step["to_agent"]}})
            reason = f"a use of {_TRANSFER}"
            losses.append(Loss("normalised", "handoff", reason, step_id))
        elif kind in _CARRIED:
            losses.append(Loss("lost", kind, "it says nothing", step_id))
    return {"tool_uses": uses, "tool_responses": answers, "intermediate_responses": thoughts}


def _response(
    body: _Object, names: dict[str, str], step_id: str | None, losses: list[Loss]
) -> _Object:
    """A function response: an object, so another output is its `result`, as ADK itself has it."""
    call_id = body.get("call_id")
    output = body.get("output")
    if isinstance(output, dict):
        response = dict(output)
    elif output is not None:
        response = {"result": output}
        reason = "no object, written as its member `result`"
        losses.append(Loss("normalised", "tool_result.output", reason, step_id))
    else:
        response = {}
    if body.get("error") is not None:
        response["error"] = body["error"]
        reason = "written as the member `error` of the response"
        losses.append(Loss("normalised", "tool_result.error", reason, step_id))
    if call_id is None:
        return {"response": response}
    name = {"name": names[call_id]} if call_id in names else {}
    return {"id": call_id, **name, "response": response}
