"""Claude Code and the Claude Agent SDK: spans, and log records without spans.

Source: mlflow `tracing/otel/translation/claude_code.py` 3.17; Claude Code monitoring documentation.
Input tokens exclude the cached ones. A model call's cost is in the log record `api_request` only;
where that is joined to the span it is read from there, else it is a model call of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    OWN_ROLE,
    SPAN_NAME,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text, messages_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import Channel, Entry, session_links
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.integrations.claude_code.events.names import FILE, PREFIX, SCOPE
from agentool_otel.integrations.claude_code.events.records import entries_of, tool_name
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, core, gen_ai

__all__ = ["ClaudeCode"]

_ANSWER = "assistant_response"
_PROMPTS = ("user_prompt", "prompt", "prompt_text")
_NAMES = {"session.id": gen_ai.CONVERSATION_ID}
_MODEL = {
    "model": gen_ai.REQUEST_MODEL,
    "output_tokens": gen_ai.USAGE_OUTPUT_TOKENS,
    "cache_read_tokens": gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    "cache_creation_tokens": gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
    "cost_usd": agentool.COST_USD,
}
_ARGUMENTS = {
    "full_command": "command",
    "file_path": "file_path",
    "skill_name": "skill",
    "subagent_type": "subagent_type",
}


class ClaudeCode:
    """The dialect."""

    name = "claude_code"
    agent_tools = AgentTools(
        delegations=("Agent", "Task", "task"),
        agent_arguments=("subagent_type",),
        commands=(("Bash", "command"),),
        edits=(
            *((name, "file_path") for name in ("Edit", "MultiEdit", "Write")),
            ("NotebookEdit", "notebook_path"),
        ),
        exit_codes=(("Bash", r"\A(?:\w+: )?Exit code (-?\d+)"),),
        zero_without_error=(("Bash", "run_in_background"),),
    )
    """`Task` is the earlier name of `Agent`. deepagents has the same tool under the name `task`."""
    prompt_ids = ("prompt.id",)
    markers = Markers(scopes=(SCOPE,), keys=("span.type",), names=(PREFIX,))
    content = Content(
        attributes=(
            *_PROMPTS,
            "new_context",
            "response.model_output",
            "tool_input",
            "tool_parameters",
            "tool_output",
            "full_command",
            "file_path",
        ),
        events=(
            *("tool.output", "api_request_body", "api_response_body", _ANSWER),
            *(PREFIX + name for name in ("tool.output", "api_request_body", "api_response_body")),
            PREFIX + _ANSWER,
        ),
    )

    values_from = (Channel.FILE, Channel.LOG, Channel.SPAN)
    makes_spans = True

    def owns(self, span: SpanRecord) -> bool:
        return span.scope.startswith(SCOPE)

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return entries_of(records, self.read)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        return session_links(spans, self, "session.id")

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return combined(spans, self, FILE)

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope.startswith(SCOPE):
            return Confidence(OWN_ROLE, f"scope {span.scope}")
        if str(span.attributes.get("span.type", "")).startswith(PREFIX):
            return Confidence(OWN_ROLE, "span.type begins with claude_code.")
        if span.name.startswith(PREFIX):
            return Confidence(SPAN_NAME, "name begins with claude_code.")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.scope == FILE:
            return onto.as_operation(span)
        if "agent_id" in span.rest and "session.id" in span.rest:
            onto.drop(span, gen_ai.CONVERSATION_ID)  # of a sub-agent, it is the id of that
        name = span.text("span.type") or span.text("event.name") or span.span.name
        kind = name.removeprefix(PREFIX)
        onto.rename(span, _NAMES)
        if kind in ("interaction", "user_prompt"):
            onto.put(span, gen_ai.AGENT_NAME, "claude-code")
            onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", *_PROMPTS)
            onto.drop(span, *_PROMPTS)  # the others are the same text, or null: not captured
            _read_answers(span)
            return onto.as_operation(span, "invoke_agent")
        if kind == "subagent.spawn":
            names = {"agent_type": gen_ai.AGENT_NAME, "subagent_type": gen_ai.AGENT_NAME}
            onto.rename(span, {**names, "agent_id": gen_ai.AGENT_ID})
            return onto.as_operation(span, "invoke_agent")
        if kind in ("llm_request", "api_request", "api_error"):
            return _read_model_call(span)
        if kind in ("tool", "tool_result"):
            return _read_tool(span)
        if kind == "tool.execution":  # below the tool's span, which is for the wait as well
            return structs.replace(_read_outcome(span), name="")
        if kind == _ANSWER and "agent_id" not in span.rest:  # else it is a sub-agent's
            onto.put(span, agentool.OUTPUT, span.text("response"))
        return onto.unclassified(span)


def _read_answers(span: Reader) -> None:
    """Take the last answer among the log records of a span."""
    for event in reversed(span.span.events):
        body = event.attributes
        if event.name.removeprefix(PREFIX) == _ANSWER and "agent_id" not in body:
            answer = onto.as_messages(body.get("response"), "assistant")
            onto.put(span, gen_ai.OUTPUT_MESSAGES, answer or None)


def _read_model_call(span: Reader) -> Operation:
    for event in span.span.events:
        body = event.attributes
        name = event.name.removeprefix(PREFIX)
        if name == "api_request":
            onto.put(span, agentool.COST_USD, body.get("cost_usd"))
        elif name in ("api_request_body", "api_response_body"):
            _read_body(span, json_or_text(body.get("body")), name == "api_request_body")
    _read_answers(span)
    onto.rename(span, _MODEL)
    tokens = span.integer("input_tokens")
    cached = [
        _count(span.rest.get(key))
        for key in (gen_ai.USAGE_CACHE_READ_INPUT_TOKENS, gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS)
    ]
    onto.put(span, gen_ai.USAGE_INPUT_TOKENS, onto.total(tokens, *cached))
    onto.put(span, gen_ai.PROVIDER_NAME, "anthropic")
    onto.move_messages(span, gen_ai.INPUT_MESSAGES, "user", "new_context")
    onto.move_messages(span, gen_ai.OUTPUT_MESSAGES, "assistant", "response.model_output")
    onto.rename(span, {"stop_reason": gen_ai.RESPONSE_FINISH_REASONS})
    reasons = span.texts(gen_ai.RESPONSE_FINISH_REASONS)
    onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, reasons and list(map(finish_reason, reasons)))
    failure = span.text("error")
    if failure is None:
        return onto.as_operation(span, "chat")
    onto.put(span, core.ERROR_TYPE, span.text("status_code"))
    read = onto.failed(onto.as_operation(span, "chat"), None, failure)
    return read if read.error_message else structs.replace(read, error_message=failure)


def _count(value: Any) -> int | None:
    """Log attributes are often texts."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and value.isascii() else None
    return value if isinstance(value, int) else None


def _read_body(span: Reader, body: Any, is_request: bool) -> None:
    if not isinstance(body, dict):
        return
    if is_request:
        onto.set_system(span, body.get("system"))
        onto.put(span, gen_ai.INPUT_MESSAGES, messages_from(body.get("messages"), "user") or None)
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(body.get("tools")) or None)
    else:
        onto.put(span, gen_ai.OUTPUT_MESSAGES, messages_from([body], "assistant") or None)


def _read_tool(span: Reader) -> Operation:
    if name := tool_name(span.rest):
        onto.drop(span, gen_ai.TOOL_NAME, "tool_name")  # without its MCP server
        onto.put(span, gen_ai.TOOL_NAME, name)
    for event in span.span.events:
        if event.name.removeprefix(PREFIX) == "tool_result":
            for key in ("tool_input", "tool_parameters"):
                onto.put(span, key, event.attributes.get(key))
    onto.rename(
        span,
        {
            "tool_name": gen_ai.TOOL_NAME,
            "tool_input": gen_ai.TOOL_CALL_ARGUMENTS,
            "tool_parameters": gen_ai.TOOL_CALL_ARGUMENTS,
        },
    )
    named = {to: value for key, to in _ARGUMENTS.items() if (value := span.text(key)) is not None}
    onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, named or None)
    for event in span.span.events:
        if event.name in ("tool.output", PREFIX + "tool.output"):
            for key in ("output", "content", "diff"):
                onto.set_result(span, event.attributes.get(key, onto.UNSET))
    if gen_ai.TOOL_CALL_RESULT not in span.rest:
        onto.set_result(span, span.json("new_context"))
    return _read_outcome(span)


def _read_outcome(span: Reader) -> Operation:
    onto.rename(
        span, {"tool_use_id": gen_ai.TOOL_CALL_ID, "duration_ms": agentool.TOOL_DURATION_MS}
    )
    succeeded, failure = span.boolean("success"), span.text("error")
    read = onto.as_operation(span, "execute_tool")
    if succeeded is not False and not failure:
        return read
    if failure and read.error_type is not None and read.error_message is None:
        return structs.replace(read, error_message=failure)
    return onto.failed(read, "_OTHER", failure)
