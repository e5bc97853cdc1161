"""OpenAI chat messages, for fine-tuning and judges: `{"messages": [...]}`, a line per trace.

Spec: OpenAI Chat Completions API, request messages, and the JSON Lines of its fine-tuning, 2026-10.
Reasoning is the assistant message's `reasoning_content`, as the chat-completions servers that
return it name it (DeepSeek, vLLM); OpenAI's own has no place for it and ignores it.

    input        user                 tool_call     assistant.tool_calls
    reasoning    assistant            tool_result   tool
    output       assistant            handoff, memory_read, memory_write: no place
"""

from __future__ import annotations

from typing import Any

from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.formats.kit.format import LINES, Converted, Loss
from agentool_otel.reading.formats.kit.members import as_text, body_of, uncarried
from agentool_otel.reading.formats.kit.turns import Call, Turn, turns_of

__all__ = ["OpenAIMessages", "messages_of"]

_TITLE = "a chat message"
_CARRIED = frozenset(
    {
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
    }
)


class OpenAIMessages:
    """Chat messages."""

    name = "openai-messages"
    framing = LINES

    def write(self, trace: ReasoningTrace) -> Converted:
        document = trace.to_dict()
        losses = uncarried(document, _CARRIED, _TITLE)
        return Converted({"messages": messages_of(document, losses)}, losses)


def messages_of(document: dict[str, Any], losses: list[Loss]) -> list[dict[str, Any]]:
    """Return the conversation a trace is, adding to its losses."""
    messages: list[dict[str, Any]] = []
    if document.get("input") is not None:
        messages.append({"role": "user", "content": as_text(document["input"], "input", losses)})
    turns = turns_of(document)
    losses += turns.losses
    last: dict[str, Any] | None = None
    for item in turns.items:
        last = None
        if isinstance(item, Turn):
            message = _assistant(item, losses)
            messages.append(message)
            if not item.calls:
                last = message
            messages += [_tool(call, losses) for call in item.calls if call.result is not None]
        elif item["type"] == "tool_result":
            reason = "the call it answers is not in the trace"
            losses.append(Loss("lost", "tool_result", reason, item.get("step_id")))
        elif item["type"] in _CARRIED:
            losses.append(Loss("lost", item["type"], "it says nothing", item.get("step_id")))
    if document.get("output") is not None:
        if last is None:
            last = {"role": "assistant"}
            messages.append(last)
        last["content"] = as_text(document["output"], "output", losses)
    return messages


def _assistant(turn: Turn, losses: list[Loss]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if turn.thoughts:
        texts = [
            as_text(step["content"], "reasoning.content", losses, step.get("step_id"))
            for step in turn.thoughts
        ]
        for step in turn.thoughts[1:]:
            reason = "joined to the thought before it"
            losses.append(Loss("normalised", "reasoning", reason, step.get("step_id")))
        message["reasoning_content"] = "\n\n".join(texts)
    if turn.calls:
        message["tool_calls"] = [_tool_call(call, losses) for call in turn.calls]
    else:
        message["content"] = ""
    return message


def _tool_call(call: Call, losses: list[Loss]) -> dict[str, Any]:
    body, step_id = body_of(call.step), call.step.get("step_id")
    if "arguments" not in body:
        reason = "not captured, written as {}"
        losses.append(Loss("normalised", "tool_call.arguments", reason, step_id))
    arguments = body.get("arguments", {})
    text = arguments if isinstance(arguments, str) else dumps(arguments)
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": text}}


def _tool(call: Call, losses: list[Loss]) -> dict[str, Any]:
    assert call.result is not None
    body, step_id = body_of(call.result), call.result.get("step_id")
    texts: list[str] = []
    if body.get("error") is not None:
        reason = "written as the tool's answer, which looks the same"
        losses.append(Loss("normalised", "tool_result.error", reason, step_id))
        texts.append(as_text(body["error"], "tool_result.error", losses, step_id))
    if body.get("output") is not None or not texts:
        if "output" not in body:
            reason = "not captured, written as empty text"
            losses.append(Loss("normalised", "tool_result.output", reason, step_id))
        texts.append(as_text(body.get("output", ""), "tool_result.output", losses, step_id))
    return {"role": "tool", "tool_call_id": call.id, "content": "\n".join(texts)}
