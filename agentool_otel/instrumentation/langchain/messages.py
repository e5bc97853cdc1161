"""LangChain's messages as messages of the GenAI conventions.

Source: langchain-core messages/{base,ai,tool,content}.py at 1.0 and 1.7; provider packages add
content blocks of their own, which pass as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agentool_otel.content.policy import jsonable
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.providers import finish_reasons
from agentool_otel.providers.calls import arguments_of, call_part
from agentool_otel.providers.fields import get, items, string
from agentool_otel.providers.openai_values import media

__all__ = [
    "conversation",
    "finish_reason",
    "from_message",
    "last_answer",
    "new_input",
    "structured",
]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "system": "system",
    "tool": "tool",
    "function": "tool",
}
_TUPLE_ROLES = {**_ROLES, "developer": "system"}

_CALLS = frozenset(
    {"tool_use", "tool_call", "tool_call_chunk", "function_call", "invalid_tool_call"}
)
"""Blocks that say what `tool_calls` says already."""


def conversation(messages: Iterable[Any]) -> list[Message]:
    """Return what a model is given."""
    return [from_message(each) for each in messages]


def from_message(given: Any, finish: str | None = None) -> Message:
    """Return one message; users may give dicts, tuples and plain text for one."""
    if isinstance(given, str):
        return message("user", [text(given)])
    if (pair := _pair(given)) is not None:
        return message(_TUPLE_ROLES.get(pair[0], pair[0]), _content(pair[1]))
    role = _role(given)
    if role == "tool":
        response = structured(get(given, "content"))
        made = message("tool", [tool_response(response, string(given, "tool_call_id"))])
    else:
        made = message(role, _parts(given), finish)
    name = string(given, "name")
    if name:
        made["name"] = name
    return made


def _pair(given: Any) -> tuple[str, Any] | None:
    """Return role and content of a message that is given as a pair."""
    pair = items(given) if isinstance(given, tuple) else []
    return (pair[0], pair[1]) if len(pair) == 2 and isinstance(pair[0], str) else None


def _role(given: Any) -> str:
    kind = string(given, "role") or string(given, "type") or "user"
    kind = kind.removesuffix("MessageChunk").lower() if kind.endswith("Chunk") else kind
    return _TUPLE_ROLES.get(kind, kind)


def _parts(given: Any) -> list[Part]:
    parts: list[Part] = []
    thought = get(get(given, "additional_kwargs"), "reasoning_content")
    if isinstance(thought, str) and thought:
        parts.append(reasoning(thought))
    parts += _content(get(given, "content"))
    for call in items(given, "tool_calls"):
        function = get(call, "function") or call  # in a dict as OpenAI has it
        given_arguments = get(call, "args") if function is call else get(function, "arguments")
        parts.append(call_part(string(function, "name"), given_arguments, string(call, "id")))
    for call in items(given, "invalid_tool_calls"):
        parts.append(call_part(string(call, "name"), get(call, "args"), string(call, "id")))
    return parts


def _content(content: Any) -> list[Part]:
    if isinstance(content, str):
        return [text(content)] if content else []
    parts: list[Part] = []
    for block in items(content):
        if isinstance(block, str):
            parts.append(text(block))
        elif string(block, "type") not in _CALLS:
            parts += _block(block)
    return parts


def _block(block: Any) -> list[Part]:
    kind = string(block, "type") or "text"
    if kind in ("text", "output_text"):
        said = string(block, "text")
        return [text(said)] if said else []
    if kind in ("reasoning", "thinking", "redacted_thinking"):
        return _thought(block)
    if kind in ("server_tool_call", "server_tool_use"):
        name = string(block, "name") or "unknown"
        asked = arguments_of(get(block, "args") or get(block, "input"))
        made: Part = {"type": "server_tool_call", "name": name}
        made["server_tool_call"] = {"type": name, "arguments": asked}
        return [_identified(made, string(block, "id"))]
    if kind == "server_tool_result":
        answer = {
            "type": string(block, "name") or "result",
            "output": jsonable(get(block, "output")),
        }
        made = {"type": "server_tool_call_response", "server_tool_call_response": answer}
        return [_identified(made, string(block, "tool_call_id"))]
    modality = "document" if kind == "file" else kind
    if modality in ("image", "audio", "video", "document"):
        return [_medium(block, modality)]
    return [media(block)]


def _thought(block: Any) -> list[Part]:
    """Return a thought; what a provider wants back with it (a signature) stays with it."""
    said = string(block, "reasoning") or string(block, "thinking")
    if said is None:
        said = "\n".join(string(part, "text") or "" for part in items(block, "summary"))
    kept = {name: found for name in ("signature", "data") if (found := string(block, name))}
    return [{**reasoning(said), **kept}] if said or kept else []


def _medium(block: Any, modality: str) -> Part:
    """Return an image, sound, video or file, in LangChain's form or Anthropic's."""
    source = get(block, "source")
    holder = block if source is None or isinstance(source, str) else source
    mime_type = string(holder, "mime_type") or string(holder, "media_type")
    data = string(holder, "base64") or string(holder, "data")
    made: Part
    if data is not None:
        made = {"type": "blob", "content": data, "modality": modality}
    elif url := string(holder, "url"):
        made = {"type": "uri", "uri": url, "modality": modality}
    elif file_id := string(holder, "file_id") or string(holder, "id"):
        made = {"type": "file", "file_id": file_id, "modality": modality}
    else:
        return media(block)
    if mime_type is not None:
        made["mime_type"] = mime_type
    return made


def _identified(part: Part, call_id: str | None) -> Part:
    if call_id is not None:
        part["id"] = call_id
    return part


def structured(content: Any) -> Any:
    """Return what a tool gave: an object or a list where its text is JSON of one, else the text."""
    if not isinstance(content, str):
        return jsonable(content)
    if content[:1] in ("{", "["):
        try:
            return loads(content)
        except ValueError:
            return content
    return content


def finish_reason(*sources: Any) -> str | None:
    """Return why a model stopped, in the conventions' words where they have one."""
    for source in sources:
        for name in ("finish_reason", "stop_reason", "stopReason"):
            if (why := finish_reasons.finish_reason(get(source, name))) is not None:
                return why
    return None


# ------------------------------------------------------------------------------- runs of a graph


def new_input(given: Any) -> list[Message] | None:
    """Return what a graph is asked: the newest messages of its user, None if it takes none."""
    if isinstance(given, str):
        return [message("user", [text(given)])]
    messages = items(given) if isinstance(given, (list, tuple)) else _messages(given)
    asked: list[Message] = []
    for each in reversed(messages):
        if not _is_message(each):
            return None
        made = from_message(each)
        if made["role"] == "user":
            asked.insert(0, made)
        elif asked:
            break
    return asked or None


def last_answer(state: Any) -> list[Message] | None:
    """Return the text of the newest message of a model in a graph's state."""
    if isinstance(state, str):
        return [message("assistant", [text(state)])]
    for each in reversed(_messages(state)):
        if _is_message(each):
            made = from_message(each)
            if made["role"] == "assistant":
                said = [part for part in made["parts"] if part["type"] == "text"]
                if not said:
                    return None
                why = finish_reason(get(each, "response_metadata"))
                return [message("assistant", said, why or "stop")]
    return None


def _messages(state: Any) -> list[Any]:
    found = get(state, "messages")
    return items(found) if isinstance(found, (list, tuple)) else [] if found is None else [found]


def _is_message(value: Any) -> bool:
    if isinstance(value, str) or _pair(value) is not None:
        return True
    return get(value, "content") is not None or bool(items(value, "tool_calls"))
