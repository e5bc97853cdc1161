"""A model call in the shape of OpenAI's chat completions: the one that every backend shows as chat.

Spec: OpenAI Chat Completions API, request and response, 2026-10. Thoughts are `reasoning_content`,
as the servers that return them name it (DeepSeek, vLLM).
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.model.messages import Message, message
from agentool_otel.model.operations import Inference

__all__ = ["completion", "request"]


def request(op: Inference) -> dict[str, Any] | None:
    """Return what a model was asked; None where that was not captured."""
    given = list(op.input or ())
    if op.system:
        given = [message("system", op.system), *given]
    if not given:
        return None
    made: dict[str, Any] = {"messages": [it for said in given for it in _messages(said)]}
    if op.request_model is not None:
        made = {"model": op.request_model, **made}
    if op.tools:
        made["tools"] = [_tool(tool) for tool in op.tools]
    return made


def completion(op: Inference) -> dict[str, Any] | None:
    """Return what it answered; None where that was not captured."""
    if not op.output:
        return None
    model = op.response_model or op.request_model
    made: dict[str, Any] = {"object": "chat.completion"}
    if model is not None:
        made["model"] = model
    made["choices"] = [_choice(n, said) for n, said in enumerate(op.output)]
    return made


def _choice(index: int, said: Message) -> dict[str, Any]:
    made = _messages(said)
    reason = said.get("finish_reason") if isinstance(said, dict) else None
    choice = {"index": index, "message": made[-1] if made else {}}
    return {**choice, "finish_reason": _REASONS.get(str(reason), reason)} if reason else choice


_REASONS = {"tool_call": "tool_calls"}
"""What the conventions call otherwise."""


def _messages(said: Message) -> list[dict[str, Any]]:
    """Return a message, each answer of a tool as one of its own."""
    return [_message(it) for it in flat.one_by_one(said)] if isinstance(said, dict) else []


def _message(said: dict[str, Any]) -> dict[str, Any]:
    made = {key: said[key] for key in ("role", "name", "tool_call_id") if said.get(key) is not None}
    blocks = [it["message_content"] for it in said.get("contents", ())]
    thoughts = [it["text"] for it in blocks if it.get("type") == "reasoning" and "text" in it]
    others = [_block(it) for it in blocks if it.get("type") != "reasoning" or "text" not in it]
    made["content"] = said.get("content")
    if others:
        alone = len(others) == 1 and others[0].keys() == {"type", "text"}
        made["content"] = others[0]["text"] if alone else others
    if thoughts:
        made["reasoning_content"] = "\n\n".join(thoughts)
    if calls := said.get("tool_calls"):
        made["tool_calls"] = [_call(it["tool_call"]) for it in calls]
    return made


def _call(call: dict[str, Any]) -> dict[str, Any]:
    return {"id": call.get("id"), "type": "function", "function": call["function"]}


def _block(block: dict[str, Any]) -> dict[str, Any]:
    image = block.get("image")
    if block.get("type") == "image" and isinstance(image, dict):
        return {"type": "image_url", "image_url": image.get("image")}
    return block


def _tool(tool: Any) -> Any:
    """Return a tool definition, its function inside as the API has it."""
    if (
        not isinstance(tool, dict)
        or "function" in tool
        or tool.get("type", "function") != "function"
    ):
        return tool
    function = {key: value for key, value in tool.items() if key != "type"}
    return {"type": "function", "function": function}
