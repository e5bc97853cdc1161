"""Messages, tools and documents as OpenInference flattens them, to and from GenAI shapes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.flattened import flatten, members
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import LazyJson
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, Part, message, parts_of, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.spans import Attributes
from agentool_otel.providers.roles import role_of

__all__ = [
    "documents_from",
    "messages_from_tree",
    "one_by_one",
    "tools_from",
    "write_documents",
    "write_messages",
    "write_tools",
]

_MEDIA = ("image", "audio", "video", "document")
_DATA_URL = re.compile(r"data:([\w.+/-]+);base64,(.*)", re.DOTALL)


# ------------------------------------------------------------------------------------- reading


def messages_from_tree(items: Any, role: str) -> list[Message]:
    """Return the messages below `llm.input_messages` or `llm.output_messages`."""
    return [_message(item, role) for item in members(items, "message")]


def _message(item: dict[str, Any], role: str) -> Message:
    item = dict(item)
    role = role_of(str(item.pop("role", role)))
    content, contents = item.pop("content", None), item.pop("contents", None)
    call_id = item.pop("tool_call_id", None)
    calls = _calls(item)
    parts = [_part(block) for block in members(contents, "message_content")]
    if role == "tool":
        response = content if content is not None else _join_blocks(parts)
        converted = message(role, [tool_response(response, _id(call_id)), *calls])
    elif role == "user" and call_id is not None:  # Anthropic's
        converted = message(role, [tool_response(content, _id(call_id)), *parts])
    else:
        if (
            isinstance(content, str)
            and content
            and all(part.get("content") != content for part in parts)
        ):
            parts.insert(0, text(content))
        elif (
            isinstance(content, list) and content and all(isinstance(item, str) for item in content)
        ):
            parts[:0] = [text(item) for item in content]  # blocks of text that came one by one
        elif content is not None and not isinstance(content, str):
            parts.insert(0, {"type": "unknown", "content": content})
        converted = message(role, parts + calls)
    for key, value in item.items():
        converted.setdefault(key, value)
    return converted


def _join_blocks(parts: list[Part]) -> Any:
    """Return the content of a tool's message in blocks: text if all blocks are text."""
    if all(set(part) == {"type", "content"} and part["type"] == "text" for part in parts):
        return "\n".join(str(part["content"]) for part in parts)
    return parts


def _id(value: Any) -> str | None:
    return None if value is None else str(value)


def _calls(item: dict[str, Any]) -> list[Part]:
    parts: list[Part] = []
    for call in members(item.pop("tool_calls", None), "tool_call"):
        inner = call.get("function")
        function: dict[str, Any] = inner if isinstance(inner, dict) else call
        name = function.get("name", call.get("function.name", "unknown"))
        # Instrumentations leave the arguments out where they are `{}`.
        arguments = function.get("arguments", call.get("function.arguments", {}))
        part = call_part(str(name), json_or_text(arguments), _id(call.get("id")))
        if (signature := call.get("reasoning_signature")) is not None:
            part["signature"] = signature
        parts.append(part)
    if "function_call_name" in item:
        arguments = json_or_text(item.pop("function_call_arguments_json", {}))
        parts.append(call_part(str(item.pop("function_call_name")), arguments))
    return parts


def _part(block: dict[str, Any]) -> Part:
    block = dict(block)
    kind = str(block.pop("type", "text"))
    if kind in ("input_text", "output_text"):  # as OpenAI's responses API calls it
        kind = "text"
    if kind in _MEDIA and isinstance(block.get(kind), dict):
        return _media(kind, block)
    if kind == "reasoning" and "data" in block:  # of a thought that the provider hides
        block.setdefault("encrypted_content", block.pop("data"))
    if isinstance(block.get("text"), str) or kind in ("text", "reasoning"):
        return {"type": kind, "content": block.pop("text", ""), **block}
    return {"type": kind, **block}


def _media(kind: str, block: dict[str, Any]) -> Part:
    (inner,) = members([block.pop(kind)], kind)
    inner = dict(inner)
    url = inner.pop("url", None)
    if isinstance(url, str) and (data := _DATA_URL.fullmatch(url)):
        source = {"type": "blob", "modality": kind, "mime_type": data[1], "content": data[2]}
    else:
        source = {"type": "uri", "modality": kind, "uri": url}
    return {**source, **inner, **block}


def tools_from(items: Any) -> list[Any]:
    """Return the tool definitions below `llm.tools`, flat as the conventions have them."""
    tools = [tool.get("json_schema", tool) for tool in members(items, "tool")]
    return onto.definitions(tools, complete=True)


def documents_from(items: Any) -> list[dict[str, Any]]:
    """Return the documents of a retrieval, their metadata as objects."""
    documents: list[dict[str, Any]] = []
    for document in members(items, "document"):
        if "metadata" in document:
            document = {**document, "metadata": json_or_text(document["metadata"])}
        documents.append(document)
    return documents


# ------------------------------------------------------------------------------------- writing


def write_messages(prefix: str, messages: Iterable[Message], into: Attributes) -> None:
    """Write messages, each answer of a tool as a message of its own."""
    for n, fields in enumerate(each for item in messages for each in one_by_one(item)):
        flatten(f"{prefix}.{n}.message", fields, into)


def one_by_one(item: Message) -> list[dict[str, Any]]:
    """Return a message with its members under their names here, each answer of a tool as a message
    of its own."""
    head = {"role": item.get("role", "user"), "name": item.get("name")}
    contents: list[dict[str, Any]] = []
    calls: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for part in parts_of(item):
        match part.get("type"):
            case "tool_call":
                calls.append({"tool_call": _written_call(part)})
            case "tool_call_response":
                response = part.get("response", part.get("result"))
                content = response if isinstance(response, str) else dumps(response)
                answers.append(
                    {**head, "role": "tool", "tool_call_id": part.get("id"), "content": content}
                )
            case _:
                contents.append({"message_content": _written_part(part)})
    if answers and not contents and not calls:
        return answers
    main: dict[str, Any] = {**head, "tool_calls": calls}
    match contents:
        case [{"message_content": {"type": "text", "text": str(words), **others}}] if (
            words and not others
        ):
            main["content"] = words
        case _:
            main["contents"] = contents
    return [*answers, main]


def _written_call(part: Part) -> dict[str, Any]:
    arguments = part.get("arguments")
    if isinstance(arguments, LazyJson):
        arguments = arguments.text
    return {
        "id": part.get("id"),
        "function": {
            "name": part.get("name"),
            "arguments": arguments if isinstance(arguments, str) else dumps(arguments),
        },
        "reasoning_signature": part.get("signature"),
    }


def _written_part(part: Part) -> dict[str, Any]:
    attributes = {key: value for key, value in part.items() if key not in ("type", "content")}
    modality = part.get("modality")
    match part:
        case {"type": "uri", "uri": str(url)} if modality in _MEDIA:
            pass
        case {"type": "blob", "mime_type": str(mime), "content": str(data)} if modality in _MEDIA:
            url = f"data:{mime};base64,{data}"
        case {"type": kind, "content": str(words)}:
            return {"type": kind, "text": words, **attributes}
        case {"type": kind}:
            return {"type": kind, **attributes, "content": part.get("content")}
        case _:
            return {"type": "unknown", **attributes}
    for key in ("modality", "uri", "mime_type"):
        attributes.pop(key, None)
    return {"type": modality, str(modality): {str(modality): {"url": url}}, **attributes}


def write_tools(prefix: str, tools: Iterable[Any], into: Attributes) -> None:
    """Write tool definitions."""
    for n, tool in enumerate(tools):
        into[f"{prefix}.{n}.tool.json_schema"] = dumps(tool)


def write_documents(prefix: str, documents: Iterable[Any], into: Attributes) -> None:
    """Write documents; content and metadata that are not text become JSON text, null values are
    left out, and a value that is no object is content.
    """
    for n, document in enumerate(documents):
        fields: dict[str, Any] = document if isinstance(document, dict) else {"content": document}
        for key, value in fields.items():
            if value is not None:
                plain = isinstance(value, (str, int, float, bool))
                into[f"{prefix}.{n}.document.{key}"] = value if plain else dumps(value)
