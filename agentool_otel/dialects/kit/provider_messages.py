"""Messages in the shapes of the providers' and frameworks' own APIs, as GenAI messages.

SDKs record what they receive: chat messages of OpenAI, items of its responses API, content blocks
of Anthropic and Bedrock, contents of Google, messages of LangChain. Unknown members stay on the
message or part that has them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from agentool_otel.dialects.kit.reading import LazyJson
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.providers.finish_reasons import finish_reason

__all__ = [
    "agent_messages",
    "answer_in",
    "are_calls",
    "calls_from",
    "json_or_text",
    "message_from",
    "messages_from",
    "parts_from",
    "role_of",
]

_RESULTS = ("tool_result", "tool-result", "tool-error")
_ROLES = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
    "human": "user",
    "ai": "assistant",
    "AIMessageChunk": "assistant",
    "model": "assistant",
    "function": "tool",
}
_BLOCKS = {"text", "toolUse", "toolResult", "reasoningContent"}
"""Bedrock's blocks, of which a list is one message."""
_LANGCHAIN_TYPES = ("human", "ai", "system", "tool", "AIMessageChunk")
_LANGCHAIN = {
    "HumanMessage": "user",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "SystemMessage": "system",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}


def json_or_text(value: Any) -> Any:
    """Parse JSON text that is an object, an array or a string; return any other value as it is."""
    if isinstance(value, str) and value[:1] in ("{", "[", '"'):
        try:
            return loads(value)
        except ValueError:
            return value
    return value


def messages_from(value: Any, role: str) -> list[Message]:
    """Return the messages of a whole prompt or answer: JSON of any known shape, or bare text.

    Args:
        value: what the SDK recorded, structured or as JSON text.
        role: the role of messages that do not name one.
    """
    value = json_or_text(value)
    if value is None or value == "":
        return []
    if isinstance(value, dict):
        value = _listed(value)
    if not isinstance(value, list):
        value = [value]
    if len(value) == 1 and isinstance(value[0], list) and not _is_pair(value[0]):
        value = value[0]  # a batch of one prompt
    if value and all(isinstance(it, dict) and it.keys() <= _BLOCKS for it in value):
        return [message(role, parts_from(value))]
    messages: list[Message] = []
    for item in value:
        if isinstance(item, dict):
            messages.append(message_from(item, role))
        elif _is_pair(item):
            messages.append(message(role_of(item[0]), parts_from(item[1])))
        else:
            messages.append(message(role, parts_from(item)))
    return messages


def _listed(container: dict[str, Any]) -> Any:
    """Return the list of messages in a request, a graph's state or an answer."""
    match container:
        case {"messages": list(items)} | {"choices": list(items)} | {"generations": list(items)}:
            return items
        case {"output": list(items), "object": "response"} | {"input": list(items), "model": _}:
            return items
        case _:
            return container


def _is_pair(item: Any) -> bool:
    """Whether this is LangChain's short form of a message, `["user", "hello"]`."""
    match item:
        case [str(role), str()]:
            return role in _ROLES
        case _:
            return False


def role_of(role: str) -> str:
    """Return the conventions' name of a role."""
    return _ROLES.get(role, role)


_QUESTIONS = (
    *("new_message", "task", "input", "query", "question", "prompt", "user_input"),
    "message",
)
"""Members of a request that hold the question: ADK, smolagents, LangChain, Agno and others."""
_PRINTED = {"run_response", "start_event"}
"""Members of an input of Agno 2 and LlamaIndex's workflows: their own objects, printed."""


def agent_messages(value: Any, role: str) -> list[Message]:
    """Return the input or output of an agent as messages: those in a value, or the value itself.

    Args:
        value: what an SDK recorded, structured or `LazyJson`.
        role: the role of messages that do not name one.
    """
    json_text = value.text if isinstance(value, LazyJson) else None
    value = value.value if isinstance(value, LazyJson) else value
    if value is None or value == "":
        return []
    if isinstance(value, dict):
        if role == "user" and (question := _question_in(value)) is not None:
            return question
        value = _framework_answer(value)
    if _holds_messages(value):
        return messages_from(value, role)
    if not isinstance(value, str):
        value = dumps(value) if json_text is None else json_text
    return [message(role, [text(value)])]


def _question_in(request: dict[str, Any]) -> list[Message] | None:
    """Return the one question of a framework's request; None for an object of another shape."""
    if "messages" not in request:
        for name in _QUESTIONS:
            match request.get(name):
                case str(question):
                    return [message("user", [text(question)])]
                case dict(question):
                    return [message_from(question, "user")]
                case _:
                    pass
    return [] if request.keys() & _PRINTED else None


def _framework_answer(value: dict[str, Any]) -> Any:
    """Return the answer in an object that wraps it; any other object as it is."""
    response = value.get("response")
    if isinstance(response, dict) and "blocks" in response:  # of LlamaIndex
        value = response
    if isinstance(value.get("raw"), str) and "json_dict" in value:
        return value["raw"]  # of CrewAI's CrewOutput and TaskOutput; the rest repeats the run
    return value


def _holds_messages(value: Any) -> bool:
    match value:
        case {"messages": list()} | {"choices": list()} | {"generations": list()}:
            return True
        case {"role": _} | {"content": _} | {"object": "response"} | {"text": str()}:
            return True
        case {"input": [{}, *_], "model": str()}:  # a request of OpenAI's responses API
            return True
        case {"type": "ai" | "human" | "tool" | "constructor"}:
            return True
        case [*items]:
            return bool(items) and all(isinstance(it, dict) or _is_pair(it) for it in items)
        case _:
            return False


def answer_in(messages: list[Message]) -> list[Message]:
    """Return the messages after the last question: a graph's state repeats the whole history."""
    for place in range(len(messages) - 1, -1, -1):
        if messages[place].get("role") == "user":
            return messages[place + 1 :] or messages
    return messages


def message_from(item: dict[str, Any], role: str) -> Message:
    """Return one message, or one item that stands for a message."""
    item, role = _unwrapped(item, role)
    role = role_of(role)
    match item:
        case {"type": "function_call", "name": str(name)}:
            call_id = _text(item.get("call_id"))
            return message(role, [call_part(name, json_or_text(item.get("arguments")), call_id)])
        case {"type": "function_call_output"}:
            response = tool_response(json_or_text(item.get("output")), _text(item.get("call_id")))
            return message("tool", [response])
        case {"type": "reasoning"}:
            return message("assistant", [_part_from(item)])
        case {"parts": list(parts)}:
            if all(isinstance(part, dict) and "type" in part for part in parts):
                return item  # a message of the conventions already
            return message(role, [_part_from(part) for part in parts])
        case {"content": _} | {"role": _} | {"tool_calls": _}:
            return _chat_message(item, role)
        case _:
            return message(role, [_part_from(item)])


def _unwrapped(item: dict[str, Any], role: str) -> tuple[dict[str, Any], str]:
    """Return a message without the wrapper of LangChain or of a choice, and its role."""
    kind = item.get("type")
    inner: Any = item.get("kwargs") if kind == "constructor" else None
    if isinstance(inner, dict):  # LangChain's own serialisation
        name = item.get("id")
        return inner, _LANGCHAIN.get(str(name[-1]), role) if name and isinstance(
            name, list
        ) else role
    if kind in _LANGCHAIN_TYPES:
        inner = item.get("data")
        if not isinstance(inner, dict):
            inner = {key: value for key, value in item.items() if key != "type"}
        return inner, str(kind)
    inner = item.get("message")
    if isinstance(inner, dict):  # a choice of a chat completion, a generation of LangChain
        if inner.get("type") == "constructor":
            return _unwrapped(inner, role)
        outer = {key: item[key] for key in ("finish_reason", "stop_reason") if key in item}
        return {**outer, **inner}, str(inner.get("role", role))
    inner = item.get("content")
    if isinstance(inner, dict) and "parts" in inner:  # a candidate of Google's
        return inner, str(inner.get("role", role))
    return item, str(item.get("role") or role)


def _chat_message(item: dict[str, Any], role: str) -> Message:
    content = json_or_text(item.get("content", item.get("blocks")))
    if role == "tool" and not _holds_results(content):
        call_id = _text(item.get("tool_call_id")) or _text(item.get("id"))
        failed = item.get("status") == "error"  # LangChain's
        converted = message(role, [_failed(tool_response(content, call_id), failed)])
    else:
        reason = finish_reason(item.get("finish_reason") or item.get("stop_reason"))
        converted = message(role, _chat_parts(item, content), reason)
    if isinstance(item.get("name"), str):
        converted["name"] = item["name"]
    return converted


def _chat_parts(item: dict[str, Any], content: Any) -> list[Part]:
    parts: list[Part] = []
    thought = item.get("reasoning_content") or item.get("reasoning")
    if isinstance(thought, str):
        parts.append(reasoning(thought))
    parts += parts_from(content)
    if isinstance(item.get("refusal"), str):
        parts.append({"type": "refusal", "content": item["refusal"]})
    call_ids = {part.get("id") for part in parts if part.get("type") == "tool_call"}
    calls = calls_from(item.get("tool_calls") or _calls_apart(item))
    return parts + [it for it in calls if it.get("id") is None or it["id"] not in call_ids]


def _calls_apart(item: dict[str, Any]) -> Any:
    """Return tool calls in OpenAI's oldest form, or among LangChain's unknown members."""
    call, unknown = item.get("function_call"), item.get("additional_kwargs")
    if isinstance(call, dict):
        return [call]
    return unknown.get("tool_calls") if isinstance(unknown, dict) else None


def _holds_results(content: Any) -> bool:
    return isinstance(content, list) and any(
        isinstance(block, dict) and (block.get("type") in _RESULTS or "toolResult" in block)
        for block in content
    )


def parts_from(content: Any) -> list[Part]:
    """Return the content of a message as parts: text, one block or a list of blocks."""
    content = json_or_text(content)
    if content is None or content == "":
        return []
    if isinstance(content, list):
        return [_part_from(block) for block in content]
    if isinstance(content, dict):
        return [_part_from(content)]
    return [text(content if isinstance(content, str) else str(content))]


def _part_from(block: Any) -> Part:
    """Return one content block as a part; one of an unknown type stays as it is."""
    part = _keyed_part(block) or _tool_part(block) or _reasoning_part(block)
    if part is not None:
        return part
    match block:
        case {"text": str(words)} | {"text": {"value": str(words)}}:  # the second of assistants
            return text(words)
        case {"type": str()}:
            return cast("Part", block)
        case str():
            return text(block)
        case _:
            return {"type": "unknown", "content": block}


def _keyed_part(block: Any) -> Part | None:
    """Return a block of Bedrock or Google, which names its type by its only key."""
    match block:
        case {"toolUse": {"name": str(name), **use}}:
            return call_part(name, use.get("input"), _text(use.get("toolUseId")))
        case {"toolResult": {**result}}:
            return _result(result, "content", "toolUseId", failed=result.get("status") == "error")
        case {"reasoningContent": {"reasoningText": {"text": str(thought), **rest}}}:
            return _signed_reasoning(thought, rest)
        case {"reasoningContent": {"redactedContent": str(data)}}:
            return {**reasoning(""), "encrypted_content": data}
        case {"function_call": {"name": str(name), **use}} | {
            "functionCall": {"name": str(name), **use}
        }:
            return call_part(name, use.get("args"), _text(use.get("id")))
        case {"function_response": {**result}} | {"functionResponse": {**result}}:
            return _result(result, "response", "id")
        case _:
            return None


def _tool_part(block: Any) -> Part | None:
    """Return a tool call or a tool result of Vercel's AI SDK or Anthropic."""
    match block:
        case {"type": "tool-result" | "tool-error"}:
            return _vercel_result(block)
        case {"toolCallId": call_id, "toolName": str(name)}:
            arguments = json_or_text(block.get("input", block.get("args")))
            return call_part(name, arguments, _text(call_id))
        case {"type": "tool_use", "name": str(name)}:
            return call_part(name, block.get("input"), _text(block.get("id")))
        case {"type": "tool_result"}:
            return _result(block, "content", "tool_use_id", failed=block.get("is_error") is True)
        case _:
            return None


def _reasoning_part(block: Any) -> Part | None:
    match block:
        case {"type": "reasoning", "text": str(thought)}:  # Vercel's AI SDK
            return reasoning(thought)
        case {"type": "thinking", "thinking": str(thought), **rest}:  # Anthropic
            return _signed_reasoning(thought, rest)
        case {"type": "reasoning_content", "reasoning_content": {"text": str(thought), **rest}}:
            return _signed_reasoning(thought, rest)  # LangChain, of Bedrock
        case {"type": "redacted_thinking", "data": str(data)}:
            return {**reasoning(""), "encrypted_content": data}
        case {"type": "reasoning", "summary": list(summary)}:  # OpenAI's responses API
            thought = "\n".join(str(it["text"]) for it in summary if _has_text(it))
            sealed = block.get("encrypted_content")
            return {**reasoning(thought), **({"encrypted_content": sealed} if sealed else {})}
        case {"text": str(thought), "thought": True}:  # Google
            return reasoning(thought)
        case _:
            return None


def _result(block: Mapping[Any, Any], content: str, call_id: str, *, failed: bool = False) -> Part:
    """Return a tool's response from the members of a block that hold its content and call id."""
    return _failed(tool_response(block.get(content), _text(block.get(call_id))), failed)


def _vercel_result(block: Mapping[Any, Any]) -> Part:
    content = block.get("output", block.get("result", block.get("error")))
    failed = block["type"] == "tool-error"
    if isinstance(content, dict) and content.keys() == {"type", "value"}:
        failed = failed or str(content["type"]).startswith("error")
        content = content["value"]
    return _failed(tool_response(json_or_text(content), _text(block.get("toolCallId"))), failed)


def _signed_reasoning(thought: str, block: Mapping[Any, Any]) -> Part:
    signature = block.get("signature")
    return {
        **reasoning(thought),
        **({"signature": signature} if isinstance(signature, str) else {}),
    }


def _failed(response: Part, failed: bool) -> Part:
    """Mark the response of a tool that failed, with Anthropic's name for it."""
    return {**response, "is_error": True} if failed else response


def _has_text(item: Any) -> bool:
    return isinstance(item, dict) and isinstance(item.get("text"), str)


def are_calls(value: Any) -> bool:
    """Whether this is a list of tool calls in OpenAI's shape."""
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(it, dict) and isinstance(it.get("function"), dict) for it in value)
    )


def calls_from(calls: Any) -> list[Part]:
    """Return the tool calls of a chat message, in OpenAI's or LangChain's shape, as parts."""
    calls = json_or_text(calls)
    parts: list[Part] = []
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            inner = call.get("function")
            function: dict[str, Any] = inner if isinstance(inner, dict) else call
            arguments = function.get("arguments", function.get("args"))
            name = str(function.get("name", "unknown"))
            parts.append(call_part(name, json_or_text(arguments), _text(call.get("id"))))
    return parts


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
