"""Gemini CLI: GenAI names with operations of its own and Google's messages; and log records.

Source: google-gemini/gemini-cli `packages/core/src/telemetry/{constants,trace,types}.ts`. Long
values end in `[TRUNCATED: original length N]`, and are then JSON no more.
"""

from __future__ import annotations

from typing import Any

import msgspec

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    SPAN_NAME,
    AgentTools,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import AgentInvocation, Operation, Unclassified
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["GeminiCLI"]

_SCOPE = "gemini-cli"
_PREFIX = "gemini_cli."
_OPERATIONS = {
    "user_prompt": "invoke_agent",
    "agent_call": "invoke_agent",
    "llm_call": "chat",
    "api_response": "chat",
    "api_error": "chat",
    "tool_call": "execute_tool",
}
_CUT = re.compile(r"\[TRUNCATED: original length \d+\]\s*$")
_NAMES = {
    "session.id": gen_ai.CONVERSATION_ID,
    "gen_ai.tool.call_id": gen_ai.TOOL_CALL_ID,
    "function_name": gen_ai.TOOL_NAME,
    "function_args": gen_ai.TOOL_CALL_ARGUMENTS,
    "model": gen_ai.REQUEST_MODEL,
    "input_token_count": gen_ai.USAGE_INPUT_TOKENS,
    "cached_content_token_count": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "total_token_count": gen_ai.USAGE_TOTAL_TOKENS,
}


_EXIT_CODES = (
    r"^Exit Code: (-?\d+)\b",
    r"^(?!Error: |Exit Code: |Signal: |Background PIDs: ).*\nProcess Group PGID: \d+()$",
)
"""An exit code of 0 has no line of its own in recent versions. That the text is whole shows in its
last line. Source: `packages/core/src/tools/shell.ts`."""


class GeminiCLI:
    """The dialect."""

    name = "gemini_cli"
    agent_tools = AgentTools(
        commands=(("run_shell_command", "command"),),
        edits=tuple((name, "file_path") for name in ("replace", "edit", "write_file")),
        exit_codes=tuple(("run_shell_command", pattern) for pattern in _EXIT_CODES),
    )
    prompt_ids = ("prompt_id",)
    markers = Markers(
        keys=("gen_ai.tool.call_id", "gen_ai.prompt.name"), scopes=(_SCOPE,), names=(_PREFIX,)
    )
    content = Content(attributes=("prompt", "function_args"))

    def recognise(self, span: SpanRecord) -> Confidence:
        operation = span.attributes.get(gen_ai.OPERATION_NAME)
        ours = span.attributes.get(gen_ai.AGENT_NAME) == _SCOPE or span.scope == _SCOPE
        if ours:
            return Confidence(
                EXTENDS if operation is not None else SCOPE, "scope or agent gemini-cli"
            )
        if span.name.startswith(_PREFIX):
            return Confidence(SPAN_NAME, "name begins with gemini_cli.")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        own_operation = span.rest.get(gen_ai.OPERATION_NAME)
        name = str(own_operation or span.span.name).removeprefix(_PREFIX)
        operation = _OPERATIONS.get(name)
        onto.rename(span, _NAMES)
        read: Operation
        if operation == "invoke_agent":
            onto.put(span, gen_ai.AGENT_NAME, _SCOPE)
            onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", "prompt")
            _read_messages(span)
            read = onto.as_operation(span, operation)
        elif operation == "chat":
            _read_model_call(span)
            read = _with_outcome(span, onto.as_operation(span, operation))
        elif operation == "execute_tool":
            read = _read_tool(span)
        else:
            read = onto.unclassified(span)
        loops = [event.name for event in span.span.events if event.name.endswith("loop_detected")]
        if (loops or name == "loop_detected") and isinstance(read, (Unclassified, AgentInvocation)):
            read = msgspec.structs.replace(read, error_type="loop_detected")
        return read


def _read_messages(span: Reader) -> None:
    """Turn Google's messages, or bare text, into parts; truncated text stays unread."""
    for key, role in ((gen_ai.INPUT_MESSAGES, "user"), (gen_ai.OUTPUT_MESSAGES, "assistant")):
        value = span.rest.get(key)
        if isinstance(value, str):
            text = _uncut(value)
            if text is not onto.UNSET:
                span.rest[key] = onto.as_messages(text, role)
        elif isinstance(value, (list, dict)):
            span.rest[key] = onto.as_messages(value, role)
    if isinstance(span.rest.get(gen_ai.SYSTEM_INSTRUCTIONS), str):
        system = _uncut(span.rest[gen_ai.SYSTEM_INSTRUCTIONS])
        if system is not onto.UNSET:
            onto.drop(span, gen_ai.SYSTEM_INSTRUCTIONS)
            onto.set_system(span, system)


def _uncut(value: str) -> Any:
    read = json_or_text(value)
    if isinstance(read, str) and _CUT.search(read) and value[:1] in ("{", "[", '"'):
        return onto.UNSET
    return read


def _read_model_call(span: Reader) -> None:
    thought = span.integer("thoughts_token_count")
    answered = span.integer("output_token_count")
    onto.put(span, gen_ai.USAGE_OUTPUT_TOKENS, onto.total(answered, thought))
    onto.put(span, gen_ai.USAGE_REASONING_OUTPUT_TOKENS, thought)
    onto.put(span, gen_ai.PROVIDER_NAME, "gcp.gemini")
    _read_messages(span)


def _read_tool(span: Reader) -> Operation:
    onto.rename(
        span,
        {
            "duration_ms": agentool.TOOL_DURATION_MS,
            gen_ai.INPUT_MESSAGES: gen_ai.TOOL_CALL_ARGUMENTS,
        },
    )
    if gen_ai.TOOL_CALL_RESULT not in span.rest and gen_ai.OUTPUT_MESSAGES in span.rest:
        result = span.json(gen_ai.OUTPUT_MESSAGES)
        onto.set_result(span, result)
    return _with_outcome(span, onto.as_operation(span, "execute_tool"))


def _with_outcome(span: Reader, read: Operation) -> Operation:
    """Take the outcome that log records state in attributes."""
    succeeded = read.extra.pop("success", None)
    described = read.extra.pop("error", None)
    kind = read.extra.pop("error_type", None)
    if described is None and kind is None and succeeded not in (False, "false"):
        return read
    return onto.failed(read, str(kind) if kind else "_OTHER", str(described or "") or None)
