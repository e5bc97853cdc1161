"""Mastra's spans before version 1, which its `telemetry` setting wrote: one for each method called.

    agent.generate, agent.stream     agent.<method>.argument.0, .result (both JSON), componentName
    mastra.stream                    stream.prompt.messages, stream.response.*: the model calls of a
                                     run as one, and the usage of the last, which is left
    mastra.stream.toolCall           stream.toolCall.{toolName,toolCallId,args,result}

Source: mastra-ai/mastra packages/core/src/{telemetry,stream,loop} v0.20. Before version 0.14 the
model calls are spans of Vercel's AI SDK.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.provider_messages import messages_from, parts_from
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import set_usage
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.messages import Part, message, text
from agentool_otel.model.operations import Operation
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["OLDER_CONTENT", "OLDER_MARKERS", "is_older", "read_older"]

_ID = "mastra.operationId"
_METHODS = ("generate", "stream", "generateVNext", "streamVNext", "generateLegacy", "streamLegacy")
_AGENT = re.compile(rf"(agent\.(?:{'|'.join(_METHODS)}))\.(?:argument\.0|result)")
_FAILED = "TOOL_EXECUTION_FAILED"
OLDER_CONTENT = (
    *("agent.*.argument.", "agent.*.result", "*.prompt.messages", "*.response.text"),
    *("*.response.toolCalls", "*.toolCall.args", "*.toolCall.result"),
)
OLDER_MARKERS = (_ID, *(f"agent.{method}." for method in _METHODS))


def is_older(span: dict[str, Any]) -> bool:
    """True for attributes as those versions name them."""
    return _ID in span or any(map(_AGENT.fullmatch, span))


def read_older(span: Reader) -> Operation:
    onto.rename(span, {"threadId": gen_ai.CONVERSATION_ID})
    called = next(filter(None, map(_AGENT.fullmatch, span.rest)), None)
    if called is not None:
        return _read_agent(span, called[1])
    _, _, called_method = (span.text(_ID) or "").partition(".")
    method, _, inner = called_method.partition(".")
    onto.drop(span, "operation.name")
    if inner == "toolCall":
        return _read_tool(span, method)
    return onto.unclassified(span) if inner else _read_model(span, method)


def _read_agent(span: Reader, method: str) -> Operation:
    onto.rename(span, {"componentName": gen_ai.AGENT_NAME})
    prompt = span.json(f"{method}.argument.0")
    onto.put_input(span, prompt)
    options = span.json(f"{method}.argument.1", keep_text=False)
    if isinstance(options, dict):
        onto.put(span, gen_ai.CONVERSATION_ID, options.get("threadId"))
    result = span.json(f"{method}.result", keep_text=False)
    if isinstance(result, dict):
        words = result.get("text")
        messages = [message("assistant", [text(words)])] if isinstance(words, str) else None
        onto.put(span, gen_ai.OUTPUT_MESSAGES, messages)
        set_usage(span, result.get("totalUsage", result.get("usage")))
    return onto.as_operation(span, "invoke_agent")


def _read_model(span: Reader, method: str) -> Operation:
    onto.rename(span, {"aisdk.model.id": gen_ai.REQUEST_MODEL})
    provider = span.text("aisdk.model.provider")
    onto.put(span, gen_ai.PROVIDER_NAME, provider.split(".")[0] if provider else None)
    sent = span.json(f"{method}.prompt.messages", keep_text=False)
    onto.put(span, gen_ai.INPUT_MESSAGES, messages_from(sent, "user") or None)
    words = span.text(f"{method}.response.text")
    calls = span.json(f"{method}.response.toolCalls")
    parts: list[Part] = [text(words)] if words else []
    for call in calls if isinstance(calls, list) else ():
        parts += parts_from(call)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, [message("assistant", parts)] if parts else None)
    onto.drop(span, *(key for key in span.rest if key.startswith(f"{method}.usage.")))
    return onto.as_operation(span, "chat")


def _read_tool(span: Reader, method: str) -> Operation:
    of = f"{method}.toolCall."
    onto.rename(
        span,
        {
            of + "toolName": gen_ai.TOOL_NAME,
            of + "toolCallId": gen_ai.TOOL_CALL_ID,
            of + "args": gen_ai.TOOL_CALL_ARGUMENTS,
        },
    )
    result = span.json(of + "result")
    if isinstance(result, dict) and result.get("code") == _FAILED:
        onto.put(span, agentool.TOOL_ERROR, str(result.get("message")))
    else:
        onto.set_result(span, result)
    return onto.as_operation(span, "execute_tool")
