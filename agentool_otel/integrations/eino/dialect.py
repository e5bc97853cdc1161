"""CloudWeGo's Eino with the callbacks of APMPlus: components, each with a prompt and a completion.

Source: cloudwego/eino-ext callbacks/apmplus v0.0.2 `apmplus.go`, `utils.go`; eino v0.7.36
`adk/{chatmodel,react}.go`. Every component is recorded the same way: `gen_ai.prompt.N` has a
model's input, one message each, or the JSON of any other input. A message that has only tool calls
is left out of the prompt, and an answer with text and calls keeps only the text. Settings that were
not set are zero, as in Go.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.quoted_agents import with_quoted_agents
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import run_at_root
from agentool_otel.ground import lazy_re as re
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
    content = Content(attributes=("gen_ai.input", "gen_ai.output", "gen_ai.request.stop"))

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
        prompts = _indexed_messages(span, "prompt")
        completions = _indexed_messages(span, "completion")
        name = span.text(_NAME)
        if operation == "execute_tool":
            onto.put(span, gen_ai.TOOL_NAME, name)
            _read_tool(span, prompts, completions)
        elif operation == "chat":
            _read_model_call(span, prompts, completions)
        else:
            operation = _read_run(span, name, prompts, completions)
        return onto.as_operation(span, operation)


def _indexed_messages(span: Reader, which: str) -> list[tuple[str | None, str]]:
    """Return role and content of each indexed message; indexes may have gaps."""
    by_index: dict[int, dict[str, str]] = {}
    for key in [key for key in span.rest if key.startswith(f"gen_ai.{which}.")]:
        if (match := _INDEXED.fullmatch(key)) and isinstance(value := span.rest[key], str):
            by_index.setdefault(int(match[2]), {})[match[3]] = value
            del span.rest[key]
    return [
        (fields.get("role"), fields.get("content", "")) for _, fields in sorted(by_index.items())
    ]


def _messages(entries: list[tuple[str | None, str]], role: str) -> list[Message]:
    """Return messages; a single entry that is a JSON array is a list of them."""
    if len(entries) == 1 and isinstance(listed := json_or_text(entries[0][1]), list):
        return messages_from(listed, role)
    return messages_from([{"role": by or role, "content": words} for by, words in entries], role)


def _read_model_call(span: Reader, prompts: Any, completions: Any) -> None:
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
    onto.put(span, gen_ai.INPUT_MESSAGES, with_quoted_agents(_messages(prompts, "user")) or None)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, _messages(completions, "assistant") or None)


def _read_tool(span: Reader, prompts: Any, completions: Any) -> None:
    if prompts:
        arguments = _unpack(prompts[0][1])
        onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, arguments)
        if isinstance(arguments, dict) and span.rest.get(gen_ai.TOOL_NAME) == "transfer_to_agent":
            onto.put(span, agentool.TRANSFER_TARGET, arguments.get("agent_name"))
    if completions:
        onto.set_result(span, _unpack(completions[0][1]))


def _unpack(text: str) -> Any:
    """JSON, JSON of JSON, or one of a stream's list."""
    value = json_or_text(text)
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], str):
        value = value[0]
    return json_or_text(value) if isinstance(value, str) else value


def _read_run(span: Reader, name: str | None, prompts: Any, completions: Any) -> str:
    """Read a root: an agent, whose input has messages and a flag to stream, or another program."""
    input_value = json_or_text(prompts[0][1]) if prompts else None
    if isinstance(input_value, list) and len(input_value) == 1:
        input_value = input_value[0]
    messages = _messages(prompts, "user")
    is_agent = isinstance(input_value, dict) and input_value.keys() >= {
        "Messages",
        "EnableStreaming",
    }
    if isinstance(input_value, dict) and is_agent:
        messages = messages_from(input_value["Messages"], "user")
    onto.put(span, gen_ai.INPUT_MESSAGES, with_quoted_agents(messages) or None)
    output_value = span.json("gen_ai.output")
    outputs = messages_from(output_value, "assistant") if isinstance(output_value, list) else None
    onto.put(span, gen_ai.OUTPUT_MESSAGES, outputs or _messages(completions, "assistant") or None)
    onto.drop(span, "gen_ai.input")
    if not is_agent:
        onto.drop(span, "gen_ai.response.finish_reason")  # of a message it passes on
    onto.put(span, gen_ai.AGENT_NAME if is_agent else gen_ai.WORKFLOW_NAME, name)
    return "invoke_agent" if is_agent else "invoke_workflow"
