"""A model call in the shape of OpenAI's chat completions: the one that every backend shows as chat.

Spec: OpenAI Chat Completions API, request and response, 2026-10. Thoughts are `reasoning_content`,
as the servers that return them name it (DeepSeek, vLLM).
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.model.messages import Message, message
from agentool_otel.model.operations import Inference
from agentool_otel.providers.finish_reasons import as_openai

__all__ = ["completion", "request"]


def request(op: Inference) -> dict[str, Any] | None:
    """Return the request of a model call; None if it was not captured."""
    messages = list(op.input or ())
    if op.system:
        messages = [message("system", op.system), *messages]
    if not messages:
        return None
    body: dict[str, Any] = {"messages": [entry for item in messages for entry in _messages(item)]}
    if op.request_model is not None:
        body = {"model": op.request_model, **body}
    if op.tools:
        body["tools"] = [_tool(tool) for tool in op.tools]
    return body


def completion(op: Inference) -> dict[str, Any] | None:
    """Return the response of a model call; None if it was not captured."""
    if not op.output:
        return None
    model = op.response_model or op.request_model
    body: dict[str, Any] = {"object": "chat.completion"}
    if model is not None:
        body["model"] = model
    body["choices"] = [_choice(n, item) for n, item in enumerate(op.output)]
    return body


def _choice(index: int, item: Message) -> dict[str, Any]:
    messages = _messages(item)
    reason = item.get("finish_reason") if isinstance(item, dict) else None
    choice = {"index": index, "message": messages[-1] if messages else {}}
    return {**choice, "finish_reason": as_openai(reason)} if reason else choice


def _messages(item: Message) -> list[dict[str, Any]]:
    """Return a message, each answer of a tool as one of its own."""
    return [_message(item) for item in flat.one_by_one(item)] if isinstance(item, dict) else []


def _message(item: dict[str, Any]) -> dict[str, Any]:
    fields = {
        key: item[key] for key in ("role", "name", "tool_call_id") if item.get(key) is not None
    }
    blocks = [content["message_content"] for content in item.get("contents", ())]
    thoughts = [
        block["text"] for block in blocks if block.get("type") == "reasoning" and "text" in block
    ]
    others = [
        _block(block) for block in blocks if block.get("type") != "reasoning" or "text" not in block
    ]
    fields["content"] = item.get("content")
    if others:
        alone = len(others) == 1 and others[0].keys() == {"type", "text"}
        fields["content"] = others[0]["text"] if alone else others
    if thoughts:
        fields["reasoning_content"] = "\n\n".join(thoughts)
    if calls := item.get("tool_calls"):
        fields["tool_calls"] = [_call(call["tool_call"]) for call in calls]
    return fields


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
