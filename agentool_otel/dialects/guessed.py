"""Spans of no known vocabulary, read by attributes whose names plainly mean a tool or a model.

    my_tool_name with tool_input or {"an": "object"}   a tool call
    function_name with tool_call_id                    a tool call
    model with prompt_tokens, or with messages         a model call
    agent_name, crew.agent.name                        an agent, if its trace has such calls

Nothing here is certain: every value is `inferred` in the fidelity report. Spans of web servers,
databases and queues are never read, nor are spans beside those of a known vocabulary.
"""

from __future__ import annotations

from functools import lru_cache

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    GUESSED,
    LAST,
    NOT_MINE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Guessed", "means_content"]

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NO_AGENTS = ("http.", "db.", "rpc.", "messaging.", "graphql.", "faas.")
"""Prefixes of attributes that only spans of servers, databases and queues have."""
_OF_MACHINES = ("host.", "k8s.", "container.", "net.", "url.", "server.", "network.")
"""Prefixes of attributes beside which an agent's name may be that of a machine's agent."""
_TELEMETRY_AGENT = "agent.name"
"""Elastic APM: the library that recorded the span."""
_LONGEST = 80
"""Characters; longer names are not looked at."""
_ENDS = {
    ("tool", "call", "id"): "call id",
    ("tool", "use", "id"): "call id",
    ("tool", "name"): "tool",
    ("agent", "name"): "agent",
    ("tool", "arguments"): "arguments",
    ("tool", "args"): "arguments",
    ("tool", "input"): "arguments",
    ("tool", "parameters"): "arguments",
    ("function", "arguments"): "arguments",
    ("function", "args"): "arguments",
    ("tool", "output"): "result",
    ("tool", "result"): "result",
    ("tool", "response"): "result",
    ("function", "result"): "result",
    ("function", "output"): "result",
    ("input", "tokens"): "input tokens",
    ("prompt", "tokens"): "input tokens",
    ("output", "tokens"): "output tokens",
    ("completion", "tokens"): "output tokens",
    ("total", "tokens"): "total tokens",
    ("llm", "model"): "model",
    ("model", "name"): "model",
    ("model", "id"): "model",
}
"""Meanings of names by their last words."""
_WHOLE = {
    ("tool",): "tool",
    ("function", "name"): "function",
    ("model",): "model",
    ("error",): "error",
    ("arguments",): "arguments",
    ("args",): "arguments",
    ("parameters",): "arguments",
    ("input",): "input",
    ("inputs",): "input",
    ("prompt",): "input",
    ("messages",): "input",
    ("output",): "output",
    ("outputs",): "output",
    ("result",): "output",
    ("response",): "output",
    ("completion",): "output",
}
"""Meanings of names by all of their words, in lower case."""
_CONTENT = frozenset({"arguments", "result"})
_OTHERS = frozenset({"user", "device", "cpu", "vehicle", "code", "host"})
"""Words that give such an end another meaning: a user agent, a device's model."""
_TOKENS = {
    "input tokens": gen_ai.USAGE_INPUT_TOKENS,
    "output tokens": gen_ai.USAGE_OUTPUT_TOKENS,
    "total tokens": gen_ai.USAGE_TOTAL_TOKENS,
}


def means_content(name: str) -> bool:
    """Return whether an attribute holds arguments, a result, an input or an output, by its name."""
    return _meaning(name) in ("arguments", "result", "input", "output")


class Guessed:
    """The dialect."""

    name = GUESSED
    markers = Markers(last=True)
    content = Content(
        attributes=tuple(
            mark.join(words)
            for words, meaning in _ENDS.items()
            if meaning in _CONTENT
            for mark in ("_", ".")
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        key = _telling(span.attributes)
        return NOT_MINE if key is None else Confidence(LAST, f"has {key}, of no known vocabulary")

    def read(self, span: Reader) -> Operation:
        meanings = _meanings(span.rest)
        for meaning, target in _TOKENS.items():
            if meaning in meanings:
                onto.rename(span, {meanings[meaning]: target})
        operation = _operation(span.rest, meanings)
        if operation == "execute_tool":
            _read_tool(span, meanings)
        else:
            for meaning, put in (("input", onto.put_input), ("output", onto.put_output)):
                if meaning in meanings and (value := span.json(meanings[meaning])) is not None:
                    put(span, value)
            names = {"agent": gen_ai.AGENT_NAME, "model": gen_ai.REQUEST_MODEL}
            onto.rename(
                span, {meanings[key]: name for key, name in names.items() if key in meanings}
            )
        return onto.as_operation(span, operation)


def _read_tool(span: Reader, meanings: dict[str, str]) -> None:
    names = {
        "tool": gen_ai.TOOL_NAME,
        "function": gen_ai.TOOL_NAME,
        "call id": gen_ai.TOOL_CALL_ID,
        "arguments": gen_ai.TOOL_CALL_ARGUMENTS,
        "input": gen_ai.TOOL_CALL_ARGUMENTS,
    }
    onto.rename(span, {meanings[key]: name for key, name in names.items() if key in meanings})
    if "error" in meanings:
        onto.put(span, agentool.TOOL_ERROR, span.text(meanings["error"]))
    for meaning in ("result", "output"):
        if meaning in meanings:
            onto.set_result(span, span.json(meanings[meaning]))
            return


def _telling(attributes: Attributes) -> str | None:
    """Return the attribute that decides the kind of a span; None if there is none."""
    meanings = _meanings(attributes)
    operation = _operation(attributes, meanings) if meanings else None
    if operation == "chat":
        return meanings.get("model") or meanings["input tokens"]
    keys = ("tool", "function") if operation == "execute_tool" else ("agent",)
    return next((meanings[key] for key in keys if operation and key in meanings), None)


def _operation(attributes: Attributes, meanings: dict[str, str]) -> str | None:
    kinds = meanings.keys()
    if any(key.startswith(_NO_AGENTS) for key in attributes):
        return None
    has_content = not kinds.isdisjoint(("input", "output"))
    if "tool" in kinds and _has_call(attributes, meanings):
        return "execute_tool"
    if {"function", "call id"} <= kinds:
        return "execute_tool"
    counts = {"input tokens", "output tokens"}
    if counts <= kinds or ("model" in kinds and not counts.isdisjoint(kinds)):
        return "chat"
    if "model" in kinds and any(
        _are_messages(attributes[meanings[key]]) for key in ("input", "output") if key in meanings
    ):
        return "chat"
    if "agent" not in kinds or any(key.startswith(_OF_MACHINES) for key in attributes):
        return None
    return "invoke_agent" if has_content or meanings["agent"] != _TELEMETRY_AGENT else None


def _has_call(attributes: Attributes, meanings: dict[str, str]) -> bool:
    """Return whether a span that names a tool has a call of it: a call id, or arguments that are
    named after the tool or are an object. Programs of all kinds have tools, inputs and results."""
    if "call id" in meanings:
        return True
    keys = [meanings[key] for key in ("arguments", "result", "input") if key in meanings]
    return any(
        "tool" in key.lower() or isinstance(json_or_text(attributes[key]), dict) for key in keys
    )


def _are_messages(value: object) -> bool:
    """Return whether a value is a list of messages with roles, as JSON text or as such."""
    items = json_or_text(value) if isinstance(value, str) else value
    return isinstance(items, list) and any(
        isinstance(item, dict) and "role" in item and "content" in item for item in items
    )


def _meanings(attributes: Attributes) -> dict[str, str]:
    """Return the names of attributes by their meaning, the first of each meaning."""
    meanings: dict[str, str] = {}
    for key, value in attributes.items():
        meaning = _meaning(key) if len(key) <= _LONGEST else None
        if meaning is not None and _fits(meaning, value):
            meanings.setdefault(meaning, key)
    return meanings


def _fits(meaning: str, value: object) -> bool:
    if meaning in _TOKENS:
        return isinstance(value, (int, str)) and str(value).isdecimal()
    if meaning in ("error", "tool", "function", "agent", "model", "call id"):
        return isinstance(value, str) and bool(value.strip())
    return value is not None


@lru_cache(4096)
def _meaning(key: str) -> str | None:
    words = tuple(word.lower() for word in _WORD.findall(key))
    if words in _WHOLE and key.islower():
        return _WHOLE[words]
    for length in (3, 2):
        meaning = _ENDS.get(words[-length:])
        if meaning is not None and _OTHERS.isdisjoint(words[:-length]):
            return meaning
    return None
