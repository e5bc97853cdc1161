"""OpenInference, read and written.

Spec: github.com/Arize-ai/openinference spec/semantic_conventions.md; names in
`semconv.openinference`. Quirks of instrumentors as of 2026-11, see `values`.

What has no name in OpenInference keeps its GenAI name, as the project's own instrumentors do when
they write both; reading prefers the OpenInference names. What the vocabulary cannot carry is in
`OpenInference.cannot_carry`. Kinds that are no operation (CHAIN, GUARDRAIL, PROMPT, UNKNOWN) are
distinguished by `gen_ai.operation.name`. A CHAIN without it is a workflow where it begins a trace,
or is a graph or an agent of LangGraph; otherwise it is plumbing and stays unclassified. A RERANKER
is read as a retrieval that says so in `extra`.
"""

from __future__ import annotations

import re
from typing import Any

from msgspec import UNSET, structs

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    Confidence,
    Markers,
    WrittenSpan,
)
from agentool_otel.dialects.kit.errors import take_exception
from agentool_otel.dialects.kit.flattened import members, tree
from agentool_otel.dialects.kit.provider_messages import answer_in
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.openinference import beeai_events as beeai
from agentool_otel.dialects.openinference import messages as flat
from agentool_otel.dialects.openinference import names, values
from agentool_otel.dialects.openinference import python_methods as calls
from agentool_otel.dialects.openinference.events import take_values
from agentool_otel.dialects.openinference.writing import write
from agentool_otel.model.messages import Message, finish_reasons_in
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    EvaluationResult,
    Inference,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai, mcp
from agentool_otel.semconv import openinference as oi

__all__ = ["OpenInference"]

_SCOPE = "openinference."
_MARKERS = Markers(
    keys=(
        "openinference.",
        oi.LLM_INPUT_MESSAGES,
        oi.LLM_INPUT_MESSAGES + ".",
        oi.LLM_OUTPUT_MESSAGES,
        oi.LLM_OUTPUT_MESSAGES + ".",
        "llm.token_count.",
        oi.LLM_MODEL_NAME,
        oi.LLM_INVOCATION_PARAMETERS,
        "retrieval.documents",
        "retrieval.documents.",
        "reranker.",
        "embedding.",
        "input.mime_type",
        "output.mime_type",
    ),
    scopes=(_SCOPE,),
    namespaces=("llm.",),
)
_CHAINS = ("invoke_agent", "invoke_workflow")
_CENSUS = (
    (("llm.",), oi.LLM),
    (("embedding.",), oi.EMBEDDING),
    (("reranker.",), oi.RERANKER),
    (("retrieval.documents",), oi.RETRIEVER),
    (("tool.name", "tool.parameters"), oi.TOOL),
    (("agent.name",), oi.AGENT),
)
_BESIDE = {*((name, kind) for kind, name in names.KINDS.items()), ("search_memory", oi.RETRIEVER)}
_GEN_AI = GenAI()
_HAS_KIND = Confidence(OWN_ROLE, f"has {oi.SPAN_KIND}")


class OpenInference:
    """The dialect."""

    name = "openinference"
    markers = _MARKERS
    content = names.CONTENT
    cannot_carry = (
        "system instructions become the first message of the input",
        "in a message, tool calls come after everything else and their arguments are objects",
        "each tool response is a message of its own, and JSON in it becomes text",
        "messages have no finish reason, the call has one",
        "documents' content is text and their metadata objects; null and empty values are left out",
        "lists of messages, tools or documents that are empty are left out",
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if oi.SPAN_KIND in span.attributes:
            return NOT_MINE if _stands_beside(span) else _HAS_KIND
        if span.scope.startswith(_SCOPE):
            return Confidence(SCOPE, f"scope {span.scope}")
        for key in span.attributes:
            if key in _MARKERS.keys or key.startswith(_MARKERS.keys):
                return Confidence(CENSUS, f"has {key}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        take_exception(span)
        if span.span.events:
            take_values(span)
        _rename(span, names.COMMON)
        kind, explicit = _kind(span)
        if mcp.METHOD_NAME in span.rest or _is_gen_ai(span, kind):
            span.rest.pop(oi.SPAN_KIND, None)
            return _GEN_AI.read(span)
        inner = kind != oi.TOOL and calls.is_inner(span.span)
        passing = inner or beeai.is_passing(span.span)
        operation = None if passing else _read_kind(span, kind)
        if operation is None:
            return onto.unclassified(span)
        if explicit and kind != oi.RERANKER:
            span.rest.pop(oi.SPAN_KIND, None)
        return operation

    def write(self, operation: Operation) -> WrittenSpan:
        """Return span name, kind and attributes; the caller sets the span's status."""
        return write(operation)


# ------------------------------------------------------------------------------------- reading


def _stands_beside(span: SpanRecord) -> bool:
    """Return whether a span is one of ours with added OpenInference names (see `added_names`) whose
    mark a store dropped. A span written in this vocabulary has its kind in place of an operation
    name.
    """
    if not span.scope.startswith("agentool_otel"):
        return False
    operation = span.attributes.get(gen_ai.OPERATION_NAME)
    kind = span.attributes[oi.SPAN_KIND]
    return isinstance(operation, str) and (operation, kind) in _BESIDE


def _kind(span: Reader) -> tuple[str, bool]:
    """Return the kind of a span, and whether the span names it."""
    value = span.rest.get(oi.SPAN_KIND)
    if isinstance(value, str) and value:
        return value.upper(), True
    for beginnings, kind in _CENSUS:
        if any(key.startswith(beginnings) for key in span.rest):
            return kind, False
    return oi.UNKNOWN, False


def _is_gen_ai(span: Reader, kind: str) -> bool:
    """Return whether to read a span by its GenAI names, because its kind maps to no operation.

    The name `invoke_agent` on a CHAIN is not enough without an agent's name: the collector's
    genainormalizer sets it on all of them.
    """
    name = span.rest.get(gen_ai.OPERATION_NAME)
    if kind == oi.EVALUATOR:
        return gen_ai.EVALUATION_NAME in span.rest
    if kind in names.KINDS or not isinstance(name, str):
        return False
    return name not in _CHAINS or (name == "invoke_agent" and gen_ai.AGENT_NAME in span.rest)


def _read_kind(span: Reader, kind: str) -> Operation | None:
    match kind:
        case oi.LLM:
            return _read_llm(span)
        case oi.TOOL:
            return _read_tool(span)
        case oi.AGENT:
            return _read_chain(span) if values.is_plumbing(span.span) else _read_agent(span)
        case oi.EMBEDDING:
            return _read_embedding(span)
        case oi.RETRIEVER | oi.RERANKER:
            return _read_retrieval(span, kind)
        case oi.EVALUATOR:
            return _read_evaluation(span)
        case oi.CHAIN:
            return _read_chain(span)
        case _:
            return None


def _rename(span: Reader, table: dict[str, str]) -> None:
    attributes = span.rest
    for old in attributes.keys() & table.keys():
        attributes[table[old]] = attributes.pop(old)


def _read_as(span: Reader, operation: str) -> Any:
    """Read the attributes that are left, by their GenAI names, as the given operation."""
    name = span.rest.get(gen_ai.OPERATION_NAME)
    if operation == "chat" and name in ("generate_content", "text_completion"):
        operation = name
    return onto.as_operation(span, operation)


def _read_llm(span: Reader) -> Inference:
    attributes = span.rest
    values.take_parameters(span, oi.LLM_INVOCATION_PARAMETERS)
    _rename(span, names.USAGE)
    _rename(span, names.COST)
    _take_cached(span)
    if gen_ai.USAGE_INPUT_TOKENS not in attributes:
        values.take_usage(span)
    _take_models(span)
    tools = flat.tools_from(tree(span, oi.LLM_TOOLS))
    if tools:
        attributes[gen_ai.TOOL_DEFINITIONS] = tools
    reason = span.text(oi.LLM_FINISH_REASON)
    if reason is not None:
        attributes[gen_ai.RESPONSE_FINISH_REASONS] = [reason]
    response_id = values.response_id(span)
    if response_id is not None:
        attributes.setdefault(gen_ai.RESPONSE_ID, response_id)
    inputs, outputs = _messages(span)
    if response_id is not None and response_id.startswith("resp_"):
        outputs = values.join_messages(outputs)
    operation: Inference = _read_as(span, "chat")
    return structs.replace(
        operation,
        input=inputs or operation.input,
        output=outputs or operation.output,
        finish_reasons=operation.finish_reasons or finish_reasons_in(outputs) or None,
    )


def _take_cached(span: Reader) -> None:
    """Take the older name of the tokens read from a cache."""
    if gen_ai.USAGE_CACHE_READ_INPUT_TOKENS not in span.rest:
        _rename(span, {oi.LLM_TOKENS_CACHE_INPUT: gen_ai.USAGE_CACHE_READ_INPUT_TOKENS})


def _take_models(span: Reader) -> None:
    """Set the request's model and the response's model.

    `llm.model_name` is the response's if the request's is known from elsewhere.
    """
    attributes = span.rest
    request_model = span.text(oi.LLM_REQUEST_MODEL_NAME)
    response_model = span.text(oi.LLM_RESPONSE_MODEL_NAME)
    model = span.text(oi.LLM_MODEL_NAME)
    if request_model is None:
        request_model = attributes.get(gen_ai.REQUEST_MODEL) or (
            model if response_model is None else None
        )
    if response_model is None and model != request_model:
        response_model = model
    if request_model is not None:
        attributes[gen_ai.REQUEST_MODEL] = request_model
    if response_model is not None:
        attributes[gen_ai.RESPONSE_MODEL] = response_model
    provider = span.text(oi.LLM_PROVIDER)
    if provider is None or provider == attributes.get(oi.LLM_SYSTEM):
        provider = span.text(oi.LLM_SYSTEM) or provider
    if provider is not None:
        attributes[gen_ai.PROVIDER_NAME] = provider
        attributes.pop("gen_ai.system", None)


def _messages(span: Reader) -> tuple[list[Message], list[Message]]:
    """Take input and output: from messages, else from the values, which otherwise repeat them."""
    inputs = flat.messages_from_tree(tree(span, oi.LLM_INPUT_MESSAGES), "user")
    if not inputs:
        inputs = values.prompts(span)
    outputs = flat.messages_from_tree(tree(span, oi.LLM_OUTPUT_MESSAGES), "assistant")
    if not outputs:
        outputs = values.completions(span)
    inputs = values.complete_messages(span, oi.INPUT_VALUE, inputs)
    outputs = values.complete_messages(span, oi.OUTPUT_VALUE, outputs)
    if inputs:
        values.drop(span, oi.INPUT_VALUE)
    else:
        inputs = values.messages(span, oi.INPUT_VALUE, "user")
    if outputs:
        values.drop(span, oi.OUTPUT_VALUE)
    else:
        outputs = values.messages(span, oi.OUTPUT_VALUE, "assistant")
    return inputs, outputs


def _read_tool(span: Reader) -> ToolExecution:
    attributes = span.rest
    values.take_call(span)
    _rename(span, names.TOOL)
    if gen_ai.TOOL_NAME not in attributes and span.span.name:
        name = span.span.name.removeprefix("execute_tool ").removesuffix(".__call__")  # DSPy's
        attributes[gen_ai.TOOL_NAME] = beeai.tool_of(span.span) or name
    arguments, result = values.arguments(span), values.result(span)
    operation: ToolExecution = _read_as(span, "execute_tool")
    operation = structs.replace(
        operation,
        arguments=operation.arguments if arguments is UNSET else arguments,
        result=operation.result if result is UNSET else result,
    )
    if target := values.handoff_target(span.span):
        # The function the model calls is named after the agent: openai-agents, handoffs.
        name = re.sub(r"[^a-z0-9]", "_", target.lower())
        source = operation.arguments
        return structs.replace(
            operation,
            name=f"transfer_to_{name}",
            transfer_target=target,
            agent_name=source if isinstance(source, str) else operation.agent_name,
            arguments=UNSET,
            result=UNSET,
        )
    return calls.unwrap_tool_method(span.span, values.unwrap_result(operation))


def _read_agent(span: Reader) -> Operation:
    attributes = span.rest
    record = span.span
    named = span.one_of(span.text, oi.AGENT_NAME, oi.GRAPH_NODE_NAME, oi.GRAPH_NODE_ID)
    if named is None and values.is_whole_run(record):
        return _read_workflow(span, record.name)
    if named is None:
        named = attributes.get(gen_ai.AGENT_NAME) or values.crewai_role(span)
        named = named or values.agent_of(record.name)
    if named is not None:
        attributes[gen_ai.AGENT_NAME] = named
    return _invocation(span)


def _invocation(span: Reader) -> AgentInvocation:
    _rename(span, names.AGENT)
    _rename(span, names.COST)
    _rename(span, names.USAGE)
    _take_cached(span)
    _take_models(span)
    tools = flat.tools_from(tree(span, oi.LLM_TOOLS))
    inputs, outputs = _agent_messages(span)
    operation: AgentInvocation = _read_as(span, "invoke_agent")
    return structs.replace(
        operation,
        input=inputs or operation.input,
        output=answer_in(outputs) or operation.output,
        tools=tools or operation.tools,
    )


def _agent_messages(span: Reader) -> tuple[list[Message], list[Message]]:
    """Take the input and the output of an agent, as messages."""
    task = values.task(span)
    if not task:
        return _messages(span)
    attributes = span.rest
    arguments = {
        key: attributes.pop(key)
        for key in (oi.INPUT_VALUE, oi.INPUT_MIME_TYPE)
        if key in attributes
    }
    _, outputs = _messages(span)
    attributes.update(arguments)
    return task, outputs


def _read_chain(span: Reader) -> Operation | None:
    agent = values.langchain_agent(span)
    if agent is not None:
        span.rest[gen_ai.AGENT_NAME] = agent
        return _invocation(span)
    if span.rest.get(gen_ai.OPERATION_NAME) == "invoke_workflow":
        return _read_workflow(span, "")
    if calls.is_workflow(span.span):
        span.rest.setdefault(gen_ai.WORKFLOW_NAME, span.span.name)
        run: WorkflowInvocation = _read_as(span, "invoke_workflow")
        return run
    if span.span.parent_id is None or span.span.name == "LangGraph":
        return _read_workflow(span, span.span.name)
    return None


def _read_workflow(span: Reader, name: str) -> WorkflowInvocation:
    if name:
        span.rest.setdefault(gen_ai.WORKFLOW_NAME, name)
    calls.unwrap_input(span)
    inputs, outputs = _messages(span)
    operation: WorkflowInvocation = _read_as(span, "invoke_workflow")
    return structs.replace(
        operation,
        input=inputs or operation.input,
        output=answer_in(outputs) or operation.output,
    )


def _read_embedding(span: Reader) -> Embeddings:
    values.take_parameters(span, oi.EMBEDDING_INVOCATION_PARAMETERS)
    _rename(span, names.USAGE)
    _rename(span, names.COST)
    model = span.text(oi.EMBEDDING_MODEL_NAME)
    if model is not None:
        request_model = span.rest.get(gen_ai.REQUEST_MODEL)
        key = gen_ai.REQUEST_MODEL if request_model in (None, model) else gen_ai.RESPONSE_MODEL
        span.rest.setdefault(key, model)
    _take_models(span)
    operation: Embeddings = _read_as(span, "embeddings")
    return operation


def _read_retrieval(span: Reader, kind: str) -> Retrieval:
    prefix = oi.RETRIEVAL_DOCUMENTS
    if kind == oi.RERANKER:
        _rename(span, names.RERANKER)
        prefix = oi.RERANKER_OUTPUT_DOCUMENTS
    documents = flat.documents_from(tree(span, prefix))
    if gen_ai.RETRIEVAL_QUERY_TEXT not in span.rest:
        query = values.query(span)
        if query is not None:
            span.rest[gen_ai.RETRIEVAL_QUERY_TEXT] = query
    if documents:
        values.drop(span, oi.OUTPUT_VALUE)
        span.rest[gen_ai.RETRIEVAL_DOCUMENTS] = documents
    operation: Retrieval = _read_as(span, "retrieval")
    return operation


def _read_evaluation(span: Reader) -> EvaluationResult | None:
    """Read an evaluator's verdict: its one annotation."""
    for prefix in (oi.ANNOTATIONS, oi.EVALUATIONS):
        if f"{prefix}.1.{prefix[:-1]}.name" in span.rest:
            return None  # several: an operation is one
        items = members(tree(span, prefix), prefix[:-1])
        if items:
            annotation = items[0]
            fields = {
                "name": gen_ai.EVALUATION_NAME,
                "score": gen_ai.EVALUATION_SCORE_VALUE,
                "label": gen_ai.EVALUATION_SCORE_LABEL,
                "explanation": gen_ai.EVALUATION_EXPLANATION,
            }
            for key, value in annotation.items():
                span.rest[fields.get(key, f"{prefix}.0.{prefix[:-1]}.{key}")] = value
            span.rest.setdefault(gen_ai.EVALUATION_NAME, span.span.name or "unknown")
            span.rest.pop(gen_ai.OPERATION_NAME, None)
            operation = _GEN_AI.read(span)
            return operation if isinstance(operation, EvaluationResult) else None
    return None
