"""Operations as OpenInference writes them."""

from __future__ import annotations

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit.dialect import WrittenSpan
from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.dialects.openinference import names, values
from agentool_otel.model.messages import message, text_of
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
    name, span_kind, said = _GEN_AI.write(op)
    kind = kind_of(op)
    if isinstance(op, Unclassified):
        kind = str(op.extra.get(oi.SPAN_KIND, oi.UNKNOWN))
    made: Attributes = {oi.SPAN_KIND: kind}
    renamed = _WRITTEN_NAMES.get(type(op), _OTHER_NAMES)
    anew = _WRITTEN_ANEW if isinstance(op, _WITH_CONTENT) else ()
    for key, value in said.items():
        if key == gen_ai.OPERATION_NAME and value == names.KINDS.get(kind):
            continue
        if key not in anew:
            made[renamed.get(key, key)] = value
    match op:
        case Inference():
            _write_messages(op, made)
            values.write_parameters(oi.LLM_INVOCATION_PARAMETERS, made)
            _write_model(op.response_model or op.request_model, made)
            if op.finish_reasons is not None and len(op.finish_reasons) == 1:
                del made[gen_ai.RESPONSE_FINISH_REASONS]
                made[oi.LLM_FINISH_REASON] = op.finish_reasons[0]
        case AgentInvocation() | WorkflowInvocation():
            _write_messages(op, made)
        case Embeddings():
            values.write_parameters(oi.EMBEDDING_INVOCATION_PARAMETERS, made)
            if op.request_model is not None:
                made[oi.EMBEDDING_MODEL_NAME] = op.request_model
        case Retrieval():
            if op.documents:
                flat.write_documents(oi.RETRIEVAL_DOCUMENTS, op.documents, made)
            if op.query is not None:
                made[oi.INPUT_MIME_TYPE] = oi.TEXT
        case ToolExecution():
            for key in (
                gen_ai.TOOL_CALL_ARGUMENTS,
                gen_ai.TOOL_CALL_RESULT,
                agentool.TOOL_WRAPPED,
            ):
                made.pop(key, None)
            if op.transfer_message is not None:
                made[agentool.TRANSFER_MESSAGE] = op.transfer_message
            values.write_value(oi.INPUT_VALUE, op.arguments, made)
            values.write_value(oi.OUTPUT_VALUE, op.result, made)
        case EvaluationResult():
            _write_annotation(made)
        case _:
            pass
    return WrittenSpan(name, span_kind, made)


def _write_model(model: str | None, made: Attributes) -> None:
    if model is not None:
        made[oi.LLM_MODEL_NAME] = model


def _write_messages(op: Inference | AgentInvocation | WorkflowInvocation, made: Attributes) -> None:
    """Write messages, and what backends show first: the last of them as the span's value."""
    given = list(op.input or ())
    system = None if isinstance(op, WorkflowInvocation) else op.system
    if system:
        given = [message("system", system), *given]
    flat.write_messages(oi.LLM_INPUT_MESSAGES, given, made)
    flat.write_messages(oi.LLM_OUTPUT_MESSAGES, op.output or (), made)
    for key, said in ((oi.INPUT_VALUE, given), (oi.OUTPUT_VALUE, op.output)):
        if said and (words := text_of(said[-1])) is not None:
            values.write_value(key, words, made)
    if not isinstance(op, WorkflowInvocation) and op.tools:
        flat.write_tools(oi.LLM_TOOLS, op.tools, made)


def _write_annotation(made: Attributes) -> None:
    for key, field in (
        (gen_ai.EVALUATION_NAME, "name"),
        (gen_ai.EVALUATION_SCORE_VALUE, "score"),
        (gen_ai.EVALUATION_SCORE_LABEL, "label"),
        (gen_ai.EVALUATION_EXPLANATION, "explanation"),
    ):
        if key in made:
            made[f"{oi.ANNOTATIONS}.0.annotation.{field}"] = made.pop(key)
