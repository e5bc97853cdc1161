"""CloudWeGo's Eino with the callbacks of APMPlus: components, each with a prompt and a completion.

Source: cloudwego/eino-ext callbacks/apmplus v0.0.2 `apmplus.go`, `utils.go`; eino v0.7.36
`adk/{chatmodel,react}.go`. Every component is told the same way: `gen_ai.prompt.N` is what a model
was told, message by message, or the JSON of whatever else went in. A message that has only tool
calls is left out of the prompt, and of an answer with words and calls only the words are kept.
Settings that were not given are zero, as everything in Go that was not set.
"""

from __future__ import annotations

import re
from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Markers
from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.quoted_agents import told_apart
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import run_at_root
from agentool_otel.model.messages import Message
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Eino"]

_COMPONENT, _NAME = "runinfo.component", "runinfo.name"
_INDEXED = re.compile(r"gen_ai\.(prompt|completion)\.(\d+)\.(role|content)")
_OPERATIONS = {"ChatModel": "chat", "Tool": "execute_tool"}
_SETTINGS = (
    gen_ai.REQUEST_MAX_TOKENS,
    gen_ai.REQUEST_TEMPERATURE,
    gen_ai.REQUEST_TOP_P,
    "gen_ai.request.stop",
)


class Eino:
    """The dialect."""

    name = "eino"
    markers = Markers(
        keys=(_COMPONENT,), scopes=("github.com/cloudwego/eino-ext/callbacks/apmplus",)
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if _COMPONENT in span.attributes:
            return Confidence(OWN_ROLE, f"has {_COMPONENT}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        operation = _OPERATIONS.get(span.text(_COMPONENT) or "")
        onto.drop(span, "gen_ai.system", "gen_ai.span.kind")  # it names itself
        onto.rename(span, {"gen_ai.session.id": gen_ai.CONVERSATION_ID})
        if operation is None:
            operation = run_at_root(span, "gen_ai.prompt.0.content", "gen_ai.completion.0.content")
        if operation is None:
            return onto.unclassified(span)
        asked, answered = _said(span, "prompt"), _said(span, "completion")
        name = span.text(_NAME)
        if operation == "execute_tool":
            onto.put(span, gen_ai.TOOL_NAME, name)
            _read_tool(span, asked, answered)
        elif operation == "chat":
            _read_model_call(span, asked, answered)
        else:
            operation = _read_run(span, name, asked, answered)
        return onto.as_operation(span, operation)


def _said(span: Reader, which: str) -> list[tuple[str | None, str]]:
    """Return role and content of what is numbered, which has gaps."""
    found: dict[int, dict[str, str]] = {}
    for key in [key for key in span.rest if key.startswith(f"gen_ai.{which}.")]:
        if (named := _INDEXED.fullmatch(key)) and isinstance(value := span.rest[key], str):
            found.setdefault(int(named[2]), {})[named[3]] = value
            del span.rest[key]
    return [(said.get("role"), said.get("content", "")) for _, said in sorted(found.items())]


def _messages(said: list[tuple[str | None, str]], role: str) -> list[Message]:
    """What is written as JSON is a list of messages, where it has no words of its own."""
    if len(said) == 1 and isinstance(listed := json_or_text(said[0][1]), list):
        return messages_from(listed, role)
    return messages_from([{"role": by or role, "content": words} for by, words in said], role)


def _read_model_call(span: Reader, asked: Any, answered: Any) -> None:
    for key in _SETTINGS:
        if not span.rest.get(key):
            onto.drop(span, key)
    onto.rename(
        span,
        {
            "gen_ai.request.stop": gen_ai.REQUEST_STOP_SEQUENCES,
            "gen_ai.is_streaming": gen_ai.REQUEST_STREAM,
        },
    )
    onto.put(span, gen_ai.INPUT_MESSAGES, told_apart(_messages(asked, "user")) or None)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, _messages(answered, "assistant") or None)


def _read_tool(span: Reader, asked: Any, answered: Any) -> None:
    if asked:
        arguments = _unpacked(asked[0][1])
        onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, arguments)
        if isinstance(arguments, dict) and span.rest.get(gen_ai.TOOL_NAME) == "transfer_to_agent":
            onto.put(span, agentool.TRANSFER_TARGET, arguments.get("agent_name"))
    if answered:
        onto.set_result(span, _unpacked(answered[0][1]))


def _unpacked(text: str) -> Any:
    """JSON, JSON of JSON, or one of a stream's list."""
    value = json_or_text(text)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    return json_or_text(value) if isinstance(value, str) else value


def _read_run(span: Reader, name: str | None, asked: Any, answered: Any) -> str:
    """A root is an agent, which is told messages and whether to stream, or any other program."""
    given = json_or_text(asked[0][1]) if asked else None
    if isinstance(given, list) and len(given) == 1:
        given = given[0]
    said = _messages(asked, "user")
    is_agent = isinstance(given, dict) and given.keys() >= {"Messages", "EnableStreaming"}
    if isinstance(given, dict) and is_agent:
        said = messages_from(given["Messages"], "user")
    onto.put(span, gen_ai.INPUT_MESSAGES, told_apart(said) or None)
    whole = span.json("gen_ai.output")
    gave = messages_from(whole, "assistant") if isinstance(whole, list) else None
    onto.put(span, gen_ai.OUTPUT_MESSAGES, gave or _messages(answered, "assistant") or None)
    onto.drop(span, "gen_ai.input")
    if not is_agent:
        onto.drop(span, "gen_ai.response.finish_reason")  # of a message it passes on
    onto.put(span, gen_ai.AGENT_NAME if is_agent else gen_ai.WORKFLOW_NAME, name)
    return "invoke_agent" if is_agent else "invoke_workflow"
