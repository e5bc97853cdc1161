"""OpenInference's names beside ours, on a finished span: many backends' pages know only those.

Whatever is added says again what the span says, in the form that most backends show, and says that
it does (`agentool.also`): this package reads such a span as if nothing had been added.

Sources of what is read where, November 2026: Phoenix 20.26 and MLflow 3.17 (kind, `input.value`,
`output.value`, documents, `session.id`; as chat only messages in OpenAI's shape), Langfuse
`packages/shared/src/server/otel/OtelIngestionProcessor.ts` (the same, and a start of the answer
that is JSON text). Model calls have no kind here: all know them by `gen_ai.operation.name`, and
MLflow would take LLM for less than its CHAT_MODEL.
"""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timezone
from typing import Any

from msgspec import UNSET, structs

from agentool_otel.dialects.kit.dialect import classify
from agentool_otel.dialects.kit.reading import LazyJson
from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.dialects.openinference import openai_shape as openai
from agentool_otel.dialects.openinference import values
from agentool_otel.dialects.openinference.writing import kind_of
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.messages import Message, text_of
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import agentool
from agentool_otel.semconv import openinference as oi

__all__ = ["beside", "without"]

_OURS = "agentool_otel"
_COMPLETION_START = "langfuse.observation.completion_start_time"
_DOCUMENTS = oi.RETRIEVAL_DOCUMENTS + "."
_ADDED = frozenset({
    *(oi.SPAN_KIND, oi.INPUT_VALUE, oi.INPUT_MIME_TYPE, oi.OUTPUT_VALUE, oi.OUTPUT_MIME_TYPE),
    *(oi.SESSION_ID, oi.LLM_TOKENS_REASONING, _COMPLETION_START, oi.RETRIEVAL_DOCUMENTS),
})  # fmt: skip
"""All that is ever added; the last one stands for all names below it."""


def beside(span: SpanRecord) -> Attributes:
    """Return what is added to a finished span of ours; nothing for any other span.

    Only what the span holds is said again. A name that is there already keeps its value.
    """
    there = span.attributes
    if not span.scope.startswith(_OURS) or oi.SPAN_KIND in there or agentool.ALSO in there:
        return {}
    dialect, operation = classify(span)
    if dialect not in ("gen_ai", None):
        return {}
    made: Attributes = {}
    if not isinstance(operation, (Inference, Embeddings)):
        made[oi.SPAN_KIND] = _kind(operation)
    if operation.conversation_id is not None:
        made[oi.SESSION_ID] = operation.conversation_id
    _add_values(operation, made)
    if isinstance(operation, Retrieval):
        flat.write_documents(oi.RETRIEVAL_DOCUMENTS, operation.documents or (), made)
    if isinstance(operation, Inference):
        _add_numbers(operation, span.start_ns, made)
    theirs = {_family(key) for key in there} & _ADDED
    kept = {key: value for key, value in made.items() if _family(key) not in theirs}
    if not kept:
        return {}
    return {**kept, agentool.ALSO: " ".join((agentool.VOCABULARIES[0], *sorted(theirs)))}


def without(span: SpanRecord) -> SpanRecord:
    """Return a span as it was before `beside`."""
    said = span.attributes.get(agentool.ALSO)
    if not isinstance(said, str):
        return span
    vocabulary, *theirs = said.split(" ")
    if vocabulary not in agentool.VOCABULARIES:
        return span
    added = _ADDED.difference(theirs) | {agentool.ALSO}
    return structs.replace(
        span, attributes={k: v for k, v in span.attributes.items() if _family(k) not in added}
    )


def _family(key: str) -> str:
    return oi.RETRIEVAL_DOCUMENTS if key.startswith(_DOCUMENTS) else key


def _kind(op: Operation) -> str:
    if isinstance(op, MemoryOperation) and op.reads:
        return oi.RETRIEVER
    return kind_of(op)


def _add_values(op: Operation, made: Attributes) -> None:
    """Add input and output: of runs as plain text, of model calls as OpenAI's API has them, of all
    else as JSON or the text that it is."""
    match op:
        case Inference():
            given, answered = openai.request(op), openai.completion(op)
            _add(oi.INPUT_VALUE, UNSET if given is None else given, made)
            _add(oi.OUTPUT_VALUE, UNSET if answered is None else answered, made)
        case AgentInvocation() | WorkflowInvocation():
            _add(oi.INPUT_VALUE, _said(op.input, op.extra.get(agentool.INPUT)), made)
            _add(oi.OUTPUT_VALUE, _said(op.output, op.extra.get(agentool.OUTPUT)), made)
        case ToolExecution(arguments=given, result=answered):
            message, error = op.transfer_message, op.tool_error
            _add(oi.INPUT_VALUE, _or(given, message), made)
            _add(oi.OUTPUT_VALUE, _or(answered, error), made)
        case McpRequest(arguments=given, result=answered):
            _add(oi.INPUT_VALUE, given, made)
            _add(oi.OUTPUT_VALUE, answered, made)
        case Retrieval():
            _add(oi.INPUT_VALUE, _or(UNSET, op.query), made)
            if op.documents:
                _add(oi.OUTPUT_VALUE, [_document(it) for it in op.documents], made)
        case MemoryOperation():
            _add(oi.INPUT_VALUE, _or(_memory(op), op.query), made)
            _add(oi.OUTPUT_VALUE, _or(op.results, op.records), made)
        case _:
            pass


def _add(key: str, value: Any, made: Attributes) -> None:
    """Add a value with its MIME type."""
    values.write_value(key, value, made)


def _or(value: Any, other: Any) -> Any:
    """Return a value, where it was not captured another; UNSET for neither."""
    if value is not UNSET:
        return value
    return UNSET if other is None else other


def _said(messages: Any, otherwise: Any) -> Any:
    """Return what was said last as text; where it was no message, the JSON it was."""
    said: list[Message] = list(messages or ())
    words = text_of(said[-1]) if said else None
    if words is not None:
        return words
    return LazyJson(otherwise) if isinstance(otherwise, str) else UNSET


def _document(said: Any) -> Any:
    """Return a document in the shape in which MLflow lists it, as LangChain has it."""
    if not isinstance(said, dict):
        return said
    told, content = said.get("metadata"), said.get("content")
    others = {key: said[key] for key in ("id", "score") if said.get(key) is not None}
    metadata = {**(told if isinstance(told, dict) else {}), **others}
    text = content if isinstance(content, str) else dumps(content)
    return {"page_content": text, "metadata": metadata}


def _memory(op: MemoryOperation) -> Any:
    """Return what was written, under its key where it has one."""
    if op.content is UNSET or op.record_id is None:
        return op.content
    return {"key": op.record_id, "content": op.content}


def _add_numbers(op: Inference, start_ns: int | None, made: Attributes) -> None:
    if op.usage is not None and op.usage.reasoning_tokens is not None:
        made[oi.LLM_TOKENS_REASONING] = op.usage.reasoning_tokens
    if start_ns is not None and op.time_to_first_chunk_s is not None:
        with suppress(ValueError, OverflowError, OSError):  # a number that is no time
            at = datetime.fromtimestamp(start_ns / 1e9 + op.time_to_first_chunk_s, timezone.utc)
            said = at.isoformat(timespec="milliseconds").replace("+00:00", "Z")
            made[_COMPLETION_START] = dumps(said)
