"""TruLens: calls of instrumented functions, each with the type that the app declared.

Source: truera/trulens `src/otel/semconv/trulens/otel/semconv/trace.py`.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.flattened import tree
from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["TruLens"]

_OF = "ai.observability."
_TYPE = _OF + "span_type"
_CALL, _RETURN = _OF + "call.kwargs", _OF + "call.return"
_MESSAGES = (_CALL + ".messages", _CALL + ".contents", _CALL + ".input", _CALL + ".prompt")
"""Arguments with the messages of a provider's own function, next to the settings of the request."""
_ROOT_INPUT, _ROOT_OUTPUT = _OF + "record_root.input", _OF + "record_root.output"
_STATE, _PRINTED = _OF + "graph_node.output_state", _OF + "mcp.output_content"
_COST = _OF + "cost."
_OPERATIONS = {
    "record_root": "invoke_workflow",
    "generation": "chat",
    "retrieval": "retrieval",
    "agent": "invoke_agent",
    "tool": "execute_tool",
    "mcp": "execute_tool",
}
_NAMES = {
    _OF + "conversation_id": gen_ai.CONVERSATION_ID,
    _OF + "retrieval.query_text": gen_ai.RETRIEVAL_QUERY_TEXT,
    _OF + "retrieval.retrieved_contexts": gen_ai.RETRIEVAL_DOCUMENTS,
    _OF + "retrieval.num_contexts": gen_ai.RETRIEVAL_TOP_K,
    _OF + "mcp.tool_name": gen_ai.TOOL_NAME,
    _OF + "mcp.tool_description": gen_ai.TOOL_DESCRIPTION,
    _OF + "mcp.input_arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    _OF + "mcp.output_content": gen_ai.TOOL_CALL_RESULT,
    _OF + "mcp.execution_time_ms": agentool.TOOL_DURATION_MS,
}
_USAGE = {
    _COST + "model": gen_ai.REQUEST_MODEL,
    _COST + "num_prompt_tokens": gen_ai.USAGE_INPUT_TOKENS,
    _COST + "num_completion_tokens": gen_ai.USAGE_OUTPUT_TOKENS,
    _COST + "num_tokens": gen_ai.USAGE_TOTAL_TOKENS,
    _COST + "num_reasoning_tokens": gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
}
_SCORED = ("eval_root.", "eval.")
_QUESTIONS = ("query", "question", "user_input", "message")
"""Parameters of an app's own functions that hold the user's question, beside retrieved texts."""


class TruLens:
    """The dialect."""

    name = "trulens"
    markers = Markers(keys=(_TYPE,))
    content = Content(
        attributes=(
            *(_CALL, _CALL + ".", _RETURN, _ROOT_INPUT, _ROOT_OUTPUT, _STATE, _PRINTED),
            *(_OF + "graph_node.input_state", _OF + "graph_node.latest_message"),
            *(_OF + "mcp.input_arguments", _OF + "retrieval.query_text"),
            _OF + "retrieval.retrieved_contexts",
            _OF + "record_root.ground_truth_output",
            *(f"{_OF}reranking.{name}" for name in ("query_text", "input_context_texts")),
            _OF + "reranking.output_context_texts",
            *(f"{_OF}graph_task.{side}_state" for side in ("input", "output")),
            *(f"{_OF}workflow.{side}_event" for side in ("input", "output")),
            *(_OF + "mcp.input_schema", _OF + "eval.criteria"),
            *(f"{_OF}coding_agent.{name}" for name in ("diff", "native_event")),
            *(f"{_OF}{prefix}explanation" for prefix in _SCORED),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        return Confidence(OWN_ROLE, f"has {_TYPE}") if _TYPE in span.attributes else NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = (span.text(_TYPE) or "").lower()
        if span.rest.get("name") == span.span.name:
            onto.drop(span, "name")
        operation = _OPERATIONS.get(kind)
        _take_thread(span)
        if operation == "execute_tool":
            _take_langgraph_call(span)
        onto.rename(span, _NAMES)
        failure = span.text(_OF + "record_root.error") or span.text(_OF + "call.error")
        if span.boolean(_OF + "mcp.output_is_error"):
            failure = failure or str(json_or_text(span.rest.get(gen_ai.TOOL_CALL_RESULT, "error")))
        if kind == "eval_root":
            return _read_evaluation(span)
        if operation in ("chat", "invoke_agent"):  # the latter with the sum of what it used
            if operation == "chat" and span.rest.get(_COST + "cost_currency") == "USD":
                onto.drop(span, _COST + "cost_currency")
                onto.rename(span, {_COST + "cost": agentool.COST_USD})
            onto.rename(span, _USAGE)
        if operation is not None and not (
            operation in ("chat", "invoke_agent") and _set_question(span)
        ):
            _set_arguments(span)
        input_key, output_key = _CALL, _RETURN
        if kind == "record_root":
            input_key, output_key = _ROOT_INPUT, _ROOT_OUTPUT
            onto.rename(span, {_CALL: input_key, _RETURN: output_key})
        name = span.span.name.rpartition(".")[2] if operation == "execute_tool" else None
        read = read_call(span, operation, name, input_key, output_key)
        return onto.failed(read, None, failure)


def _take_thread(span: Reader) -> None:
    """Take the conversation from the configuration that a graph was called with."""
    config = json_or_text(span.rest.get(_CALL + ".config"))
    chosen = config.get("configurable") if isinstance(config, dict) else None
    if isinstance(chosen, dict) and isinstance(chosen.get("thread_id"), str):
        onto.put(span, gen_ai.CONVERSATION_ID, chosen["thread_id"])


def _take_langgraph_call(span: Reader) -> None:
    """Take the call of a tool from the input of LangGraph's tool node, and its result from the
    state after it; other attributes have both printed, with the node's configuration."""
    attributes = span.rest
    if attributes.get(gen_ai.TOOL_NAME) == attributes.get(_OF + "call.function"):
        onto.drop(span, gen_ai.TOOL_NAME)
    calls = json_or_text(attributes.get(_CALL + ".input"))
    call = calls[0] if isinstance(calls, list) and len(calls) == 1 else None
    if not isinstance(call, dict) or call.get("type") != "tool_call":
        return
    onto.drop(span, _OF + "mcp.input_arguments")
    if _STATE in attributes or attributes.get(_PRINTED) == "":
        onto.drop(span, _PRINTED, _RETURN)
    onto.put(span, gen_ai.TOOL_NAME, call.get("name"))
    onto.put(span, gen_ai.TOOL_CALL_ID, call.get("id"))
    onto.put(span, gen_ai.TOOL_CALL_ARGUMENTS, call.get("args"))
    if _STATE in attributes:
        onto.set_result(span, span.text(_STATE))


def _set_question(span: Reader) -> bool:
    """Take the question out of the arguments; the others are no part of the conversation."""
    if not any(key.startswith(_MESSAGES) for key in span.rest):
        for name in _QUESTIONS:
            if isinstance(span.rest.get(f"{_CALL}.{name}"), str):
                span.rest[_CALL] = span.rest.pop(f"{_CALL}.{name}")
                return True
    return False


def _set_arguments(span: Reader) -> None:
    """Join the arguments of the call, an attribute each; the root has an attribute for them."""
    if _ROOT_INPUT not in span.rest:
        arguments: Any = tree(span, _CALL)
        if isinstance(arguments, dict):
            span.rest[_CALL] = arguments


def _read_evaluation(span: Reader) -> Operation:
    for prefix in _SCORED:
        onto.rename(
            span,
            {
                f"{_OF}{prefix}metric_name": gen_ai.EVALUATION_NAME,
                f"{_OF}{prefix}score": gen_ai.EVALUATION_SCORE_VALUE,
                f"{_OF}{prefix}explanation": gen_ai.EVALUATION_EXPLANATION,
            },
        )
    return onto.as_operation(span)
