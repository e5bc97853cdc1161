"""Operations as OpenInference writes them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit.dialect import WrittenSpan
from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.dialects.openinference import names, values
from agentool_otel.model.messages import finish_reasons_in, message, text_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    EvaluationResult,
    Inference,
    McpRequest,
    Operation,
    Retrieval,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.model.spans import Attributes
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv import openinference as oi

__all__ = ["kind_of", "write"]

_GEN_AI = GenAI()
_KIND_OF: dict[type, str] = {
    Inference: oi.LLM,
    ToolExecution: oi.TOOL,
    AgentInvocation: oi.AGENT,
    Embeddings: oi.EMBEDDING,
    Retrieval: oi.RETRIEVER,
    EvaluationResult: oi.EVALUATOR,
}


def _inverse(*tables: dict[str, str]) -> dict[str, str]:
    return {new: old for table in (names.COMMON, *tables) for old, new in table.items()}


_WRITTEN_NAMES: dict[type, dict[str, str]] = {
    Inference: _inverse(names.USAGE, names.COST, names.MODEL),
    Embeddings: _inverse(names.USAGE, names.COST, names.MODEL),
    AgentInvocation: _inverse(names.USAGE, names.MODEL, names.AGENT),
    ToolExecution: _inverse(names.TOOL),
    Retrieval: _inverse({oi.INPUT_VALUE: gen_ai.RETRIEVAL_QUERY_TEXT}),
}
_OTHER_NAMES = _inverse()
_WRITTEN_ANEW = {
    gen_ai.INPUT_MESSAGES,
    gen_ai.OUTPUT_MESSAGES,
    gen_ai.SYSTEM_INSTRUCTIONS,
    gen_ai.TOOL_DEFINITIONS,
    gen_ai.RETRIEVAL_DOCUMENTS,
}
_WITH_CONTENT = (Inference, AgentInvocation, WorkflowInvocation, Retrieval)


def kind_of(op: Operation) -> str:
    """Return the span kind of an operation: CHAIN for those that have none of their own."""
    if isinstance(op, McpRequest):
        return oi.TOOL if op.method == "tools/call" else oi.CHAIN
    return _KIND_OF.get(type(op), oi.CHAIN)


def write(op: Operation) -> WrittenSpan:
    """Return span name, kind and attributes; the caller sets the span's status."""
    name, span_kind, attributes = _GEN_AI.write(op)
    kind = kind_of(op)
    if isinstance(op, Unclassified):
        kind = str(op.extra.get(oi.SPAN_KIND, oi.UNKNOWN))
    written: Attributes = {oi.SPAN_KIND: kind}
    renamed = _WRITTEN_NAMES.get(type(op), _OTHER_NAMES)
    anew = _WRITTEN_ANEW if isinstance(op, _WITH_CONTENT) else ()
    for key, value in attributes.items():
        if key == gen_ai.OPERATION_NAME and value == names.KINDS.get(kind):
            continue
        if key not in anew:
            written[renamed.get(key, key)] = value
    if (write_content := _CONTENT_WRITERS.get(type(op))) is not None:
        write_content(op, written)
    return WrittenSpan(name, span_kind, written)


def _write_inference(op: Inference, into: Attributes) -> None:
    _write_messages(op, into)
    values.write_parameters(oi.LLM_INVOCATION_PARAMETERS, into)
    model = op.response_model or op.request_model
    if model is not None:
        into[oi.LLM_MODEL_NAME] = model
    reasons = op.finish_reasons or finish_reasons_in(op.output or ())
    if len(reasons) == 1:
        into.pop(gen_ai.RESPONSE_FINISH_REASONS, None)
        into[oi.LLM_FINISH_REASON] = reasons[0]


def _write_messages(op: Inference | AgentInvocation | WorkflowInvocation, into: Attributes) -> None:
    """Write messages, and the last of each side as the span's value, which backends show first."""
    inputs = list(op.input or ())
    system = None if isinstance(op, WorkflowInvocation) else op.system
    if system:
        inputs = [message("system", system), *inputs]
    flat.write_messages(oi.LLM_INPUT_MESSAGES, inputs, into)
    flat.write_messages(oi.LLM_OUTPUT_MESSAGES, op.output or (), into)
    for key, messages in ((oi.INPUT_VALUE, inputs), (oi.OUTPUT_VALUE, op.output)):
        if messages and (last := text_of(messages[-1])) is not None:
            values.write_value(key, last, into)
    if not isinstance(op, WorkflowInvocation) and op.tools:
        flat.write_tools(oi.LLM_TOOLS, op.tools, into)


def _write_embeddings(op: Embeddings, into: Attributes) -> None:
    values.write_parameters(oi.EMBEDDING_INVOCATION_PARAMETERS, into)
    if op.request_model is not None:
        into[oi.EMBEDDING_MODEL_NAME] = op.request_model


def _write_retrieval(op: Retrieval, into: Attributes) -> None:
    if op.documents:
        flat.write_documents(oi.RETRIEVAL_DOCUMENTS, op.documents, into)
    if op.query is not None:
        into[oi.INPUT_MIME_TYPE] = oi.TEXT


def _write_tool(op: ToolExecution, into: Attributes) -> None:
    for key in (gen_ai.TOOL_CALL_ARGUMENTS, gen_ai.TOOL_CALL_RESULT, agentool.TOOL_WRAPPED):
        into.pop(key, None)
    if op.transfer_message is not None:
        into[agentool.TRANSFER_MESSAGE] = op.transfer_message
    values.write_value(oi.INPUT_VALUE, op.arguments, into)
    values.write_value(oi.OUTPUT_VALUE, op.result, into)


def _write_annotation(_op: EvaluationResult, into: Attributes) -> None:
    for key, field in (
        (gen_ai.EVALUATION_NAME, "name"),
        (gen_ai.EVALUATION_SCORE_VALUE, "score"),
        (gen_ai.EVALUATION_SCORE_LABEL, "label"),
        (gen_ai.EVALUATION_EXPLANATION, "explanation"),
    ):
        if key in into:
            into[f"{oi.ANNOTATIONS}.0.annotation.{field}"] = into.pop(key)


_CONTENT_WRITERS: dict[type, Callable[[Any, Attributes], None]] = {
    Inference: _write_inference,
    AgentInvocation: _write_messages,
    WorkflowInvocation: _write_messages,
    Embeddings: _write_embeddings,
    Retrieval: _write_retrieval,
    ToolExecution: _write_tool,
    EvaluationResult: _write_annotation,
}
