"""LlamaIndex's own OpenTelemetry spans: methods by name, with their work as events.

Source: run-llama/llama_index `llama-index-observability-otel` 0.7, `base.py`; the events in
`llama_index/core/instrumentation/events`. What an event holds is flattened with dots. The output of
a workflow is printed and cut at 200 characters; that of the calls inside is whole, except that of a
stream, which ends after its span and is lost.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    SCOPE,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.python_text import LONGEST, call_in
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import set_usage
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.literals import TEXT, literal
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import gen_ai

__all__ = ["LlamaIndex"]

_SCOPE = "llamaindex.opentelemetry"
_STEP = "llamaindex.step."
_USAGE = "response.raw.usage."
_PRINTED = re.compile(
    r"StopEvent\(result=AgentOutput\(response=ChatMessage\("
    r"role=<MessageRole.ASSISTANT: 'assistant'>, additional_kwargs={}, "
    r"blocks=\[TextBlock\(block_type='text', "
    rf"text=({TEXT})\)\]",
    re.DOTALL,
)
_NAMED = re.compile(r"ToolCall\(tool_name='([^']+)'")

_CONTENT = Content(
    attributes=(
        *("messages", "prompt", "response.text", "response.delta", "response.message."),
        *("response.raw.choices", "response.raw.output", "additional_kwargs.tools"),
        *(f"{_STEP}input_summary", f"tags.{_STEP}input_summary"),
    ),
    events=(
        *("LLMPredictStartEvent", "LLMPredictEndEvent", "LLMChatInProgressEvent"),
        *("LLMStructuredPredictStartEvent", "LLMStructuredPredictInProgressEvent"),
        *("LLMStructuredPredictEndEvent", "LLMCompletionInProgressEvent", "EmbeddingEndEvent"),
        *("RetrievalStartEvent", "RetrievalEndEvent", "ReRankStartEvent", "ReRankEndEvent"),
        *("QueryStartEvent", "QueryEndEvent", "SynthesizeStartEvent", "SynthesizeEndEvent"),
        *("GetResponseStartEvent", "GetResponseEndEvent", "StreamChatDeltaReceivedEvent"),
        *("AgentToolCallEvent", "AgentRunStepStartEvent", "AgentRunStepEndEvent"),
        *("AgentChatWithStepStartEvent", "AgentChatWithStepEndEvent", "SpanDropEvent"),
        *("step.output", "workflow.output"),
    ),
)
"""Events that a reader takes models and counts from lose single attributes, all others everything
but their name, which tells what the span is."""


class LlamaIndex:
    """The dialect."""

    name = "llama_index"
    agent_tools = AgentTools(handoffs=("handoff",))
    markers = Markers(keys=("llamaindex.run_id", _STEP), scopes=(_SCOPE,))
    content = _CONTENT

    def recognise(self, span: SpanRecord) -> Confidence:
        if span.scope.startswith(_SCOPE):
            return Confidence(SCOPE, f"scope {span.scope}")
        if "llamaindex.run_id" in span.attributes:
            return Confidence(SCOPE, "has llamaindex.run_id")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        events = {event.name: event.attributes for event in span.span.events}
        owner, _, method = span.span.name.rpartition(".")
        if "LLMChatStartEvent" in events or "LLMCompletionStartEvent" in events:
            return _read_model(span, events)
        if (start := events.get("RetrievalStartEvent")) is not None:
            onto.put(span, gen_ai.RETRIEVAL_QUERY_TEXT, _query(start, "str_or_query_bundle"))
            end = events.get("RetrievalEndEvent", {})
            onto.set_documents(span, _documents(end.get("nodes")))
            return onto.as_operation(span, "retrieval")
        if (start := events.get("EmbeddingStartEvent")) is not None:
            onto.put(span, gen_ai.REQUEST_MODEL, start.get("model_dict.model_name"))
            return onto.as_operation(span, "embeddings")
        if (start := events.get("QueryStartEvent")) is not None:
            answer = events.get("QueryEndEvent", {}).get("response.response")
            onto.put(span, gen_ai.WORKFLOW_NAME, owner)
            onto.put_input(span, _query(start, "query"))
            onto.put_output(span, answer)
            return onto.as_operation(span, "invoke_workflow")
        if method in ("call", "acall") and owner.endswith("Tool"):
            return _read_tool(span)
        if method == "run" and ("workflow.output" in events or span.span.parent_id is None):
            is_agent = owner.endswith("Agent")
            onto.put(span, gen_ai.AGENT_NAME if is_agent else gen_ai.WORKFLOW_NAME, owner)
            answer = _printed_answer(events.get("workflow.output", {}).get("output"))
            onto.put_output(span, answer)
            return onto.as_operation(span, "invoke_agent" if is_agent else "invoke_workflow")
        return onto.unclassified(span)


def _read_model(span: Reader, events: dict[str, Attributes]) -> Operation:
    start = events.get("LLMChatStartEvent") or events.get("LLMCompletionStartEvent") or {}
    end = events.get("LLMChatEndEvent") or events.get("LLMCompletionEndEvent") or {}
    onto.put(span, gen_ai.REQUEST_MODEL, start.get("model_dict.model_name"))
    onto.put(span, gen_ai.REQUEST_TEMPERATURE, start.get("model_dict.temperature"))
    sent = _messages(start.get("messages")) or onto.as_messages(start.get("prompt"), "user")
    onto.put(span, gen_ai.INPUT_MESSAGES, sent or None)
    answer = {
        "role": end.get("response.message.role", "assistant"),
        "blocks": end.get("response.message.blocks"),
    }
    outputs = [item for item in _messages([answer]) if item["parts"]]
    outputs = outputs or onto.as_messages(end.get("response.text"), "assistant")
    onto.put(span, gen_ai.OUTPUT_MESSAGES, outputs or None)
    onto.put(span, gen_ai.RESPONSE_MODEL, end.get("response.raw.model"))
    onto.put(span, gen_ai.RESPONSE_ID, end.get("response.raw.id"))
    match json_or_text(end.get("response.raw.choices")):
        case [{"finish_reason": str(reason)}, *_]:
            onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, [finish_reason(reason)])
        case _:
            pass
    set_usage(span, _usage(end))
    return onto.as_operation(span, "chat")


def _read_tool(span: Reader) -> Operation:
    """Of the model's call, which the workflow's step was given; the result is in the next call."""
    summary = span.rest.get(f"{_STEP}input_summary")
    call = call_in(summary, "ToolCall")
    named = _NAMED.match(summary) if isinstance(summary, str) else None  # also where it is cut
    onto.put(span, gen_ai.TOOL_NAME, named[1] if named else None)
    onto.put(span, gen_ai.TOOL_CALL_ID, call.get("tool_id"))
    onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, call.get("tool_kwargs"))
    if call:
        onto.drop(span, f"{_STEP}input_summary")
    return onto.as_operation(span, "execute_tool")


def _printed_answer(printed: Any) -> str | None:
    """The text in the `repr` of an agent's output, where it ends before the cut."""
    match = _PRINTED.match(printed) if isinstance(printed, str) else None
    try:
        return str(literal(match[1], LONGEST)) if match is not None else None
    except ValueError:  # no text that Python printed
        return None


def _usage(attributes: Attributes) -> dict[str, Any]:
    """The counts of a provider's response, with their details as the objects they were."""
    usage: dict[str, Any] = {}
    for key, value in attributes.items():
        if key.startswith(_USAGE):
            outer, _, inner = key.removeprefix(_USAGE).partition(".")
            if not inner:
                usage[outer] = value
            elif isinstance(details := usage.setdefault(outer, {}), dict):
                details[inner] = value
    return usage


def _query(event: Attributes, name: str) -> Any:
    return event.get(f"{name}.query_str", event.get(name))


def _documents(nodes: Any) -> Any:
    nodes = json_or_text(nodes)
    if not isinstance(nodes, list):
        return onto.UNSET
    documents: list[dict[str, Any]] = []
    for one in nodes:
        node = one.get("node") if isinstance(one, dict) else None
        if isinstance(node, dict):
            fields = {"id": node.get("id_"), "content": node.get("text"), "score": one.get("score")}
            documents.append({key: value for key, value in fields.items() if value is not None})
    return documents


def _messages(items: Any) -> list[Message]:
    messages: list[Message] = []
    items = json_or_text(items)
    for one in items if isinstance(items, list) else ():
        if not isinstance(one, dict):
            continue
        blocks = json_or_text(one.get("blocks"))
        parts = [_part(block) for block in blocks] if isinstance(blocks, list) else []
        more = one.get("additional_kwargs")
        call_id = more.get("tool_call_id") if isinstance(more, dict) else None
        if one.get("role") == "tool":
            words = "".join(str(part.get("content", "")) for part in parts)
            parts = [tool_response(words, call_id if isinstance(call_id, str) else None)]
        messages.append(message(str(one.get("role", "user")), parts))
    return messages


def _part(block: Any) -> Part:
    match block:
        case {"block_type": "text", "text": str(words)}:
            return text(words)
        case {"block_type": "thinking", "content": str(thought)}:
            return reasoning(thought)
        case {"block_type": "tool_call", "tool_name": str(name), **call}:
            call_id = call.get("tool_call_id")
            arguments = json_or_text(call.get("tool_kwargs"))
            return call_part(name, arguments, call_id if isinstance(call_id, str) else None)
        case _:
            return {"type": "unknown", "content": block}
