"""Gemini CLI: GenAI names with operations of its own and Google's messages; and log records.

Source: google-gemini/gemini-cli `packages/core/src/telemetry/{constants,trace,types}.ts`. Long
values end in `[TRUNCATED: original length N]`, and are then JSON no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import msgspec

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    SCOPE,
    SPAN_NAME,
    Confidence,
    Content,
    Markers,
    TraceLinks,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.session_entries import DENIED, Channel, Entry, session_links
from agentool_otel.dialects.kit.session_tree import combined
from agentool_otel.ground import lazy_re as re
from agentool_otel.integrations.gemini_cli.events import names
from agentool_otel.integrations.gemini_cli.events.calls import (
    answer_in,
    call_id_of,
    described,
    ended_call,
    joined,
    sub_agent_of,
)
from agentool_otel.integrations.gemini_cli.events.records import entries_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Operation,
    ToolExecution,
    Unclassified,
)
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["GeminiCLI"]

_SCOPE = names.SCOPE
_PREFIX = names.PREFIX
_SCOPES = (_SCOPE, names.FILE)
_PROMPT_IDS = ("gen_ai.prompt.name", "prompt_id")
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
        keys=("gen_ai.tool.call_id", "gen_ai.prompt.name"), scopes=_SCOPES, names=(_PREFIX,)
    )
    content = Content(attributes=("prompt", "function_args", "request_text", "response_text"))

    values_from = (Channel.SPAN, Channel.LOG, Channel.FILE)
    """A file has the calls of a message once all of them have ended."""
    makes_spans = True

    def owns(self, span: SpanRecord) -> bool:
        if span.name:
            return span.scope in _SCOPES
        # What is left of a span that is not there: the events of the conventions.
        return any(event.attributes.get("otel.scope.name") == _SCOPE for event in span.events)

    def entries(self, records: Sequence[SpanRecord]) -> tuple[list[Entry], list[SpanRecord]]:
        return entries_of(records, self.read)

    def trace_links(self, spans: Sequence[SpanRecord]) -> TraceLinks | None:
        links = session_links(spans, self, "session.id", "agent_id")
        records: Iterable[SpanRecord | SpanEvent] = chain(
            spans, chain.from_iterable(span.events for span in spans)
        )
        prompts = (record.attributes.get(name) for record in records for name in _PROMPT_IDS)
        agents = {agent for prompt in prompts if (agent := sub_agent_of(prompt)) is not None}
        if links is None or not agents:
            return links
        ids = [*dict.fromkeys([*links.offered, *sorted(agents)])]
        return TraceLinks(offered=ids, needed=ids)

    def arrange(self, spans: list[SpanRecord]) -> list[SpanRecord]:
        return combined(spans, self, names.FILE)

    def recognise(self, span: SpanRecord) -> Confidence:
        operation = span.attributes.get(gen_ai.OPERATION_NAME)
        ours = span.attributes.get(gen_ai.AGENT_NAME) == _SCOPE or span.scope in _SCOPES
        if ours:
            return Confidence(
                EXTENDS if operation is not None else SCOPE, "scope or agent gemini-cli"
            )
        if span.name.startswith(_PREFIX):
            return Confidence(SPAN_NAME, "name begins with gemini_cli.")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        if span.span.scope == names.FILE:
            return onto.as_operation(span)
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
        if key == gen_ai.OUTPUT_MESSAGES and isinstance(span.rest.get(key), list):
            span.rest[key] = joined(span.rest[key])
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
    response = span.rest.get("response_text")
    if isinstance(response, str) and (answer := answer_in(json_or_text(response))):
        onto.drop(span, "response_text")
        onto.put(span, gen_ai.OUTPUT_MESSAGES, answer)
    _read_messages(span)


def _read_tool(span: Reader) -> Operation:
    onto.rename(
        span,
        {
            "duration_ms": agentool.TOOL_DURATION_MS,
            gen_ai.INPUT_MESSAGES: gen_ai.TOOL_CALL_ARGUMENTS,
        },
    )
    request = json_or_text(span.rest.get(gen_ai.TOOL_CALL_ARGUMENTS))
    if isinstance(request, dict) and "callId" in request and "args" in request:
        span.rest[gen_ai.TOOL_CALL_ARGUMENTS] = request["args"]
    ended = json_or_text(span.rest.get(gen_ai.OUTPUT_MESSAGES))
    if isinstance(ended, dict) and isinstance(ended.get("response"), dict):
        onto.drop(span, gen_ai.OUTPUT_MESSAGES)
        return ended_call(_called(span), ended["response"])
    if gen_ai.TOOL_CALL_RESULT not in span.rest and gen_ai.OUTPUT_MESSAGES in span.rest:
        result = span.json(gen_ai.OUTPUT_MESSAGES)
        onto.set_result(span, result)
    return _with_outcome(span, _called(span))


def _called(span: Reader) -> ToolExecution:
    """Return the tool call of a span, with the id that the model's API has."""
    read = onto.as_operation(span, "execute_tool")
    assert isinstance(read, ToolExecution)
    if read.call_id is None:
        return read
    return msgspec.structs.replace(read, call_id=call_id_of(read.name, read.call_id))


def _with_outcome(span: Reader, read: Operation) -> Operation:
    """Take the outcome that log records state in attributes."""
    succeeded = read.extra.pop("success", None)
    words = read.extra.pop("error", None)
    kind = read.extra.pop("error_type", None)
    if words is None and kind is None and succeeded not in (False, "false"):
        return read
    described_kind = str(kind) if kind else None
    if isinstance(read, ToolExecution):
        denied = described(described_kind, str(words or ""))
        described_kind = denied if kind or denied == DENIED else None
    return onto.failed(read, described_kind or "_OTHER", str(words or "") or None)
