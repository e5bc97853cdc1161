"""Content of a message, block by block, in the shape of any API.

Programs mix them: a history in OpenAI's shape has a block of Anthropic's in it, LangChain and
LiteLLM pass on what each provider gave. An object names the type of a block, or has one key.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.values import jsonable
from agentool_otel.model.messages import Part, reasoning, text
from agentool_otel.providers import anthropic, bedrock, google, vercel
from agentool_otel.providers.calls import arguments_of, call_of
from agentool_otel.providers.fields import as_list, get, items, plain_text, record, string
from agentool_otel.providers.media import media

__all__ = ["CALLS", "block_parts", "parts_of", "thoughts_of"]

_REQUIRED = {
    "text": "content",
    "reasoning": "content",
    "tool_call": "name",
    "tool_call_response": "response",
    "server_tool_call": "server_tool_call",
    "server_tool_call_response": "server_tool_call_response",
    "blob": "content",
    "file": "modality",
    "uri": "uri",
}
"""The member that distinguishes a part of the conventions from a block of the same type."""
CALLS = frozenset(
    {
        *("tool_use", "tool_call", "tool_call_chunk", "invalid_tool_call"),
        *("function", "function_call"),
    }
)
"""Blocks that are tool calls. LangChain repeats them beside the content."""


def parts_of(content: Any) -> list[Part]:
    """Return content as parts: text, one block, or a list of both.

    A block of an unknown type is a part as it is; one without a type is what an unknown part holds.
    """
    if content is None or plain_text(content) == "":
        return []
    parts: list[Part] = []
    blocks = as_list(content)
    for block in [content] if blocks is None else blocks:
        own_parts = block_parts(block)
        parts += (
            [{"type": "unknown", "content": jsonable(block)}] if own_parts is None else own_parts
        )
    return parts


def block_parts(block: Any) -> list[Part] | None:
    """Return the parts of a block, None if its shape is unknown."""
    if (words := plain_text(block)) is not None:
        return [text(words)]
    if vercel.is_part(block):
        return [vercel.part_of(block)]
    kind = string(block, "type")
    if kind is None:
        return _untyped_parts(block)
    if _REQUIRED.get(kind) in (members := record(block) or {}) and "args" not in members:
        return [jsonable(members)]
    if kind in ("reasoning", "reasoning_content"):
        return thoughts_of(block)
    if kind in ("server_tool_call", "server_tool_result"):
        return [_server_tool(block, kind)]
    if kind in anthropic.BLOCKS or items(block, "citations"):
        return anthropic.parts_of([block])
    return [call_of(block) if kind in CALLS else media(block)]


def _untyped_parts(block: Any) -> list[Part] | None:
    if bedrock.is_block(block):
        return [bedrock.part_of(block)]
    if google.is_part(block):
        return google.parts_of([block])
    words = string(block, "text")
    words = string(get(block, "text"), "value") if words is None else words  # of assistants
    return None if words is None else [text(words)]


def thoughts_of(block: Any) -> list[Part]:
    """Return a model's thoughts: an item of OpenAI's responses, or its form in LangChain and
    Vercel's AI SDK. Data that the provider needs back stays with them.
    """
    inner = get(block, "reasoning_content")  # LangChain's, of Bedrock
    source = block if inner is None else inner
    summary = items(source, "summary") + items(source, "content")
    texts = [string(source, "reasoning"), string(source, "text")]
    parts = [
        reasoning(item) for item in (*texts, *(string(each, "text") for each in summary)) if item
    ]
    members = {
        name: item
        for name in ("signature", "encrypted_content", "data")
        if (item := string(source, name))
    }
    if not members:
        return parts
    first, *others = parts or [reasoning("")]
    return [first | members, *others]


def _server_tool(block: Any, kind: str) -> Part:
    """Return LangChain's block for a tool that runs at the provider."""
    name = string(block, "name")
    part: Part
    if kind == "server_tool_call":
        call = {"type": name or "unknown", "arguments": arguments_of(get(block, "args"))}
        part = {"type": kind, "name": name or "unknown", "server_tool_call": call}
        call_id = string(block, "id")
    else:
        answer = {"type": name or "result", "output": jsonable(get(block, "output"))}
        part = {"type": "server_tool_call_response", "server_tool_call_response": answer}
        call_id = string(block, "tool_call_id")
    return part if call_id is None else part | {"id": call_id}
