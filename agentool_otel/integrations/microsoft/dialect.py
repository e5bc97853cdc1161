"""Microsoft's Agent Framework, Semantic Kernel and Microsoft.Extensions.AI: GenAI names and more.

Source: microsoft/agent-framework `python/packages/core/agent_framework/observability.py`;
dotnet/extensions `src/Libraries/Microsoft.Extensions.AI`; microsoft/semantic-kernel
`python/semantic_kernel/utils/telemetry`. Semantic Kernel's content events and log records are read
by the `gen_ai` dialect.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import parts_of, text
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Microsoft"]

_FRAMEWORK = "microsoft.agent_framework"
_SCOPES = (
    *("agent_framework", "Microsoft.Agents", "Experimental.Microsoft.", "Microsoft.SemanticKernel"),
    *("Microsoft.Extensions.AI", "semantic_kernel.", "agent_runtime "),
)
_PLUMBING = ("workflow.build", "executor.process", "edge_group.process")
_REASON = "gen_ai.response.finish_reason"
_SOURCE, _TARGET = "message.source_id", "message.target_id"
_STRUCTURED = "final_result"
_OLDER = {
    "chat.completions": "chat",
    "text.completions": "text_completion",
    "process_thread_run": "invoke_agent",
}
"""Operation names of Semantic Kernel, and of runs in Azure's agent service."""
_NAMES = {
    "agent_framework.function.name": gen_ai.TOOL_NAME,
    "gen_ai.thread.id": gen_ai.CONVERSATION_ID,  # of Azure's agent service
    "gen_ai.response.prompt_tokens": gen_ai.USAGE_INPUT_TOKENS,  # of Semantic Kernel
    "gen_ai.response.completion_tokens": gen_ai.USAGE_OUTPUT_TOKENS,
}


class Microsoft:
    """The dialect."""

    name = "microsoft"
    agent_tools = AgentTools(handoffs=("handoff_to_", "Handoff-transfer_to_"))
    """Of Agent Framework, and of Semantic Kernel, which puts a plugin's name before the tool's."""
    markers = Markers(
        keys=(
            *("workflow.id", "executor.id", "edge_group.", _SOURCE, "agent_framework."),
            "gen_ai.thread.",
        ),
        scopes=_SCOPES,
    )
    content = Content(attributes=(_STRUCTURED,))

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.name.startswith(("workflow.", *_PLUMBING, "message.send")):
            return Confidence(OWN_ROLE, "name of a workflow's span")
        has_operation = gen_ai.OPERATION_NAME in span.attributes
        if span.attributes.get(gen_ai.PROVIDER_NAME) == _FRAMEWORK:
            return Confidence(EXTENDS, f"the provider is {_FRAMEWORK}")
        if "gen_ai.thread.id" in span.attributes:
            return Confidence(EXTENDS if has_operation else SCOPE, "has gen_ai.thread.id")
        if span.scope.startswith(_SCOPES):
            return Confidence(EXTENDS if has_operation else SCOPE, f"scope {span.scope}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        for key in ("gen_ai.system", gen_ai.PROVIDER_NAME):  # the framework, not a provider
            if span.rest.get(key) == _FRAMEWORK:
                onto.drop(span, key)
        name = span.span.name
        if name.startswith(_PLUMBING):
            return onto.unclassified(span)
        if name.startswith("workflow.run"):
            onto.rename(
                span,
                {"workflow.name": gen_ai.WORKFLOW_NAME, "workflow.id": gen_ai.WORKFLOW_NAME},
            )
            return onto.as_operation(span, "invoke_workflow")
        if name.startswith("message.send"):
            return _read_message(span)
        onto.rename(span, _NAMES)
        seconds = span.number("agent_framework.function.invocation.duration")
        onto.put(span, agentool.TOOL_DURATION_MS, None if seconds is None else seconds * 1000)
        _unpack_structured(span)
        _unpack_results(span)
        if span.span.scope.startswith("semantic_kernel."):
            _read_kernel(span)
        return onto.as_operation(span, _OLDER.get(str(span.rest.get(gen_ai.OPERATION_NAME))))


def _read_kernel(span: Reader) -> None:
    """Semantic Kernel's tool definitions are OpenAI's, and reasons to stop are printed members of
    an enumeration: `FinishReason.TOOL_CALLS`."""
    if tools := onto.definitions(span.rest.get(gen_ai.TOOL_DEFINITIONS)):
        span.rest[gen_ai.TOOL_DEFINITIONS] = tools
    if isinstance(reasons := span.rest.get(_REASON), str):
        words = reasons.replace("FinishReason.", "").lower().split(",")
        onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, [finish_reason(word) for word in words])
        onto.drop(span, _REASON)


def _read_message(span: Reader) -> Operation:
    """Read a message between executors of a workflow: its sender hands over to its receiver."""
    source, target = span.text(_SOURCE), span.text(_TARGET)
    if source is None or target is None:
        for key, value in ((_SOURCE, source), (_TARGET, target)):
            onto.put(span, key, value)
        return onto.unclassified(span)
    span.rest[gen_ai.TOOL_NAME] = f"transfer_to_{target}"
    span.rest[agentool.TRANSFER_TARGET] = target
    span.rest[gen_ai.AGENT_NAME] = source
    return onto.as_operation(span, "execute_tool")


def _unpack_structured(span: Reader) -> None:
    """Turn the tool call that stands for a structured result into the answer.

    Microsoft.Extensions.AI offers the model a tool `final_result`, whose call has that id too.
    """
    messages = span.rest.get(gen_ai.OUTPUT_MESSAGES)
    if not isinstance(messages, (str, list)) or _STRUCTURED not in str(messages):
        return
    messages = json_or_text(messages)
    if isinstance(messages, list):
        span.rest[gen_ai.OUTPUT_MESSAGES] = [_without_call(message) for message in messages]


def _unpack_results(span: Reader) -> None:
    """Take tool results out of the content objects that Agent Framework printed in 2026-01."""
    for key in (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES):
        value = span.rest.get(key)
        if isinstance(value, str) and "function_result" in value:
            messages = json_or_text(value)
            for item in messages if isinstance(messages, list) else ():
                for part in parts_of(item) if isinstance(item, dict) else ():
                    response = json_or_text(part.get("response"))
                    if isinstance(response, dict) and response.get("type") == "function_result":
                        part["response"] = response.get("result")
                        span.rest[key] = messages


def _without_call(message: Any) -> Any:
    parts = message.get("parts") if isinstance(message, dict) else None
    if not isinstance(parts, list):
        return message
    return {**message, "parts": [_as_text(part) for part in parts]}


def _as_text(part: Any) -> Any:
    match part:
        case {"type": "tool_call", "name": "final_result", "id": "final_result"}:
            arguments = part.get("arguments")
            return text(arguments if isinstance(arguments, str) else dumps(arguments))
        case _:
            return part
