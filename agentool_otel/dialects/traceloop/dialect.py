"""OpenLLMetry (Traceloop), read and written.

Source: traceloop/openllmetry 0.62.4 and the releases before, names in `semconv.traceloop`.

Its model calls are GenAI spans of every generation; its own names are the kind of a span, its
entity with input and output as JSON in an envelope, and properties of the session. It is written as
the current GenAI names and these; any operation but a workflow, an agent and a tool is a task,
distinguished by its GenAI name.
"""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, structs

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    CENSUS,
    EXTENDS,
    NOT_MINE,
    OWN_ROLE,
    SCOPE,
    Confidence,
    Content,
    Markers,
    WrittenSpan,
)
from agentool_otel.dialects.kit.errors import take_exception
from agentool_otel.dialects.kit.provider_messages import agent_messages, answer_in
from agentool_otel.dialects.kit.reading import LazyJson, Reader
from agentool_otel.dialects.traceloop import entities, openai_agents_v2
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    McpRequest,
    Operation,
    Retrieval,
    ToolExecution,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv import agentool, gen_ai, mcp
from agentool_otel.semconv import traceloop as tl

__all__ = ["Traceloop"]

_CREW_AGENT_ROLE = "crewai.agent.role"
_CREW_NAME = "crewai.crew.name"
_CREW_RESULT = "crewai.crew.result"
_SCOPE = "opentelemetry.instrumentation."
_NO_OPERATION = (None, "invoke_agent", "execute_task")
"""Other operations that a task's span may have."""
_INSTRUMENTED = frozenset({
    "agno", "alephalpha", "anthropic", "bedrock", "chromadb", "cohere", "crewai",
    "google_generativeai", "groq", "haystack", "lancedb", "langchain", "llamaindex", "marqo", "mcp",
    "milvus", "mistralai", "ollama", "openai", "openai.v0", "openai.v1", "openai_agents",
    "pinecone", "qdrant", "replicate", "sagemaker", "together", "transformers", "vertexai",
    "voyageai", "watsonx", "weaviate", "writer",
})  # fmt: skip
"""Libraries that OpenLLMetry instruments, as its scopes name them. Scopes of the OpenTelemetry
project end in `_v2`, apart from that of its openai-agents, which uses the same names."""
_MARKERS = Markers(
    keys=(
        *("traceloop.", tl.REQUEST_TYPE, tl.REQUEST_FUNCTIONS + ".", "llm.usage.", "crewai."),
        tl.COMMAND,
    ),
    scopes=tuple(_SCOPE + name for name in sorted(_INSTRUMENTED)),
)
_GEN_AI = GenAI()
_HAS_KIND = Confidence(OWN_ROLE, f"has {tl.SPAN_KIND}")


class Traceloop:
    """The dialect."""

    name = "traceloop"
    markers = _MARKERS
    content = Content(
        attributes=(
            tl.ENTITY_INPUT,
            tl.ENTITY_OUTPUT,
            tl.TASK_INPUT,
            tl.TASK_OUTPUT,
            _CREW_RESULT,
            tl.REQUEST_FUNCTIONS,
            tl.REQUEST_FUNCTIONS + ".",
            "traceloop.prompt.template",
            "traceloop.prompt.template_variables",
            "llm.response.text",
            *("crewai.crew.inputs", "crewai.crew.tasks_output", "crewai.crew.agents"),
            # A prompt is made of an agent's goal and backstory; its role is its name.
            *("crewai.crew.tasks", "crewai.agent.goal", "crewai.agent.backstory"),
            *("crewai.agent.tools", "crewai.task.tools", "llm.chat.stop_sequences"),
            *("llm.content.completion.chunk", "gen_ai.bedrock.guardrail.content"),
            *("gen_ai.guardrail.content", "gen_ai.guardrail.input", "gen_ai.guardrail.output"),
            *("crewai.task.description", "crewai.task.context", "crewai.task.expected_output"),
            *(
                "db.query.result.document",
                "db.query.result.metadata",
            ),
            *("crewai.*.result", "gen_ai.guardrail.match", "mcp.session.init_options"),
            "gen_ai.request.structured_output_schema",
        ),
        keeps=("gen_ai.completion.*.finish_reason", "llm.completions.*.finish_reason"),
    )
    cannot_carry = (
        "a tool's result that looks like LangChain's serialised message is read as its content",
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        if tl.SPAN_KIND in attributes:
            return _HAS_KIND
        if tl.REQUEST_TYPE in attributes:
            return Confidence(EXTENDS, f"has {tl.REQUEST_TYPE}")
        for key in attributes:
            if key.startswith(("traceloop.", tl.COMMAND)):
                return Confidence(EXTENDS, f"has {key}")
        if span.scope.startswith(_SCOPE) and span.scope[len(_SCOPE) :] in _INSTRUMENTED:
            named = gen_ai.OPERATION_NAME in attributes or mcp.METHOD_NAME in attributes
            level = EXTENDS if named else SCOPE
            return Confidence(level, f"scope {span.scope}")
        for key in attributes:
            if key.startswith(("crewai.", "llm.usage.", tl.REQUEST_FUNCTIONS)):
                return Confidence(CENSUS, f"has {key}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        take_exception(span)
        if span.span.scope == openai_agents_v2.SCOPE:
            openai_agents_v2.mend(span)
        _take_session(span)
        onto.move_functions(span, tl.REQUEST_FUNCTIONS)
        onto.mend_definitions(span)
        onto.mend_thoughts(span)
        for repeated, original in (
            (tl.TASK_INPUT, tl.ENTITY_INPUT),
            (tl.TASK_OUTPUT, tl.ENTITY_OUTPUT),
        ):
            if repeated in span.rest:
                value = span.rest.pop(repeated)
                span.rest.setdefault(original, value)
        return _read_by_role(span)

    def write(self, operation: Operation) -> WrittenSpan:
        """Return span name, kind and attributes; the caller sets the span's status."""
        return _write(operation)


# ------------------------------------------------------------------------------------- reading


def _take_session(span: Reader) -> None:
    attributes = span.rest
    if gen_ai.CONVERSATION_ID not in attributes:
        for name in ("session_id", "thread_id"):
            if isinstance(session_id := attributes.get(tl.ASSOCIATION + name), str) and session_id:
                attributes[gen_ai.CONVERSATION_ID] = session_id
                del attributes[tl.ASSOCIATION + name]
                return
    elif attributes.get(tl.ASSOCIATION + "session_id") == attributes[gen_ai.CONVERSATION_ID]:
        attributes.pop(tl.ASSOCIATION + "session_id", None)


def _read_by_role(span: Reader) -> Operation:
    """Read a span by its kind or its GenAI operation; the first case that fits decides."""
    attributes = span.rest
    kind, operation = _mend_role(span)
    match kind, operation:
        case _ if mcp.METHOD_NAME in attributes:
            return _read_mcp(span)
        case (tl.HANDOFF, _) | (_, "handoff"):
            return _read_handoff(span)
        case _ if tl.GOTO_TO in attributes:
            return _read_goto(span)
        case (tl.TOOL, _) | (None, "execute_tool"):
            return _read_tool(span)
        case (_, "vector_db_retrieve"):
            return _read_retrieval(span)
        case (tl.AGENT, _):
            return _read_agent(span)
        case (tl.WORKFLOW, _):
            return _read_agent(span) if _is_agent(span) else _read_workflow(span)
        case _ if _is_plain_task(kind, attributes) or _is_wrapper(span):
            return onto.unclassified(span)
        case _:
            return _read_gen_ai(span)


def _mend_role(span: Reader) -> tuple[Any, Any]:
    """Return the span's kind and GenAI operation, which some versions leave out or misname."""
    attributes = span.rest
    if attributes.get(gen_ai.OPERATION_NAME) == "response":  # of openai-agents, in 0.45
        attributes[gen_ai.OPERATION_NAME] = "chat"
    kind = attributes.get(tl.SPAN_KIND)
    if kind is None and span.span.name == "crewai.workflow":
        kind = tl.WORKFLOW
    if kind == tl.TOOL and span.span.scope.startswith(_SCOPE + "mcp"):
        attributes.setdefault(
            mcp.METHOD_NAME, "tools/call"
        )  # the span's name had it, in older versions
    return kind, attributes.get(gen_ai.OPERATION_NAME)


def _read_gen_ai(span: Reader) -> Operation:
    span.rest.pop(tl.SPAN_KIND, None)
    request_type = _take_request_type(span)
    operation = _GEN_AI.read(span)
    if request_type is not None and isinstance(operation, Unclassified):
        operation.extra[tl.REQUEST_TYPE] = request_type
    return operation


def _take_request_type(span: Reader) -> Any:
    """Take the older name of the operation where the current one is there too."""
    if gen_ai.OPERATION_NAME in span.rest:
        return span.rest.pop(tl.REQUEST_TYPE, None)
    return None


def _is_agent(span: Reader) -> bool:
    """Return whether a LangChain workflow is an agent: LangChain names it on every runnable
    inside.
    """
    name = span.rest.get(tl.ASSOCIATION + "lc_agent_name")
    return name is not None and name == span.rest.get(tl.ENTITY_NAME)


def _is_plain_task(kind: Any, attributes: Attributes) -> bool:
    """Return whether a span is a task and nothing more specific."""
    plain = attributes.get(gen_ai.OPERATION_NAME) in _NO_OPERATION
    return kind == tl.TASK and plain and gen_ai.EVALUATION_NAME not in attributes


def _is_wrapper(span: Reader) -> bool:
    """Return whether a span wraps a LangGraph run that has a span of its own, with content."""
    return tl.GRAPH_NODES in span.rest and tl.SPAN_KIND not in span.rest


def _read_as(span: Reader, operation: str) -> Any:
    """Read the attributes that are left as a GenAI span of the given operation."""
    span.rest.pop(tl.SPAN_KIND, None)
    return onto.as_operation(span, operation)


def _entity(span: Reader) -> str | None:
    """Take the name of the entity, else the one in the span's own: `get_weather.tool`."""
    name = span.text(tl.ENTITY_NAME)
    before, dot, kind = span.span.name.rpartition(".")
    return name or (before if dot and kind == span.rest.get(tl.SPAN_KIND) else None)


def _read_tool(span: Reader) -> ToolExecution:
    name = _entity(span)
    if name is not None:
        span.rest.setdefault(gen_ai.TOOL_NAME, name)
    input_value = entities.envelope(span, tl.ENTITY_INPUT, gen_ai.TOOL_CALL_ARGUMENTS)
    output_value = entities.envelope(span, tl.ENTITY_OUTPUT, gen_ai.TOOL_CALL_RESULT)
    operation: ToolExecution = _read_as(span, "execute_tool")
    changes: dict[str, Any] = {}
    if input_value is not UNSET:
        changes["arguments"] = entities.arguments(input_value)
        if operation.call_id is None:  # one that is empty is one
            changes["call_id"] = entities.call_id(input_value)
    if output_value is not UNSET:
        changes |= entities.result(output_value, operation)
    return structs.replace(operation, **changes)


def _read_agent(span: Reader) -> AgentInvocation:
    name = _entity(span)
    attributes = span.rest
    if name is not None and attributes.get(tl.WORKFLOW_NAME) == name:
        del attributes[tl.WORKFLOW_NAME]
    named = span.text(_CREW_AGENT_ROLE) or name
    if named is not None:
        attributes.setdefault(gen_ai.AGENT_NAME, named)
    run_id = attributes.pop(gen_ai.AGENT_ID) if _names_run(span) else None
    inputs, outputs = _content(span)
    operation: AgentInvocation = _with_content(_read_as(span, "invoke_agent"), inputs, outputs)
    if run_id is not None:
        operation.extra[gen_ai.AGENT_ID] = run_id
    return operation


def _names_run(span: Reader) -> bool:
    """Return whether the agent's id is LangChain's run id, which is new for every run."""
    langchain = span.span.scope == _SCOPE + "langchain"
    return langchain and gen_ai.AGENT_ID in span.rest


def _read_workflow(span: Reader) -> WorkflowInvocation:
    name = _entity(span)
    attributes = span.rest
    named = span.text(tl.WORKFLOW_NAME) or span.text(_CREW_NAME) or name
    if named is not None:
        attributes.setdefault(gen_ai.WORKFLOW_NAME, named)
    if (
        name is not None and attributes.get(gen_ai.AGENT_NAME) == name
    ):  # what a workflow is called as an agent
        del attributes[gen_ai.AGENT_NAME]
    inputs, outputs = _content(span)
    operation: WorkflowInvocation = _with_content(
        _read_as(span, "invoke_workflow"), inputs, outputs
    )
    return operation


def _with_content(operation: Any, inputs: Any, outputs: Any) -> Any:
    """Add the entity's input and output where GenAI messages have none."""
    return structs.replace(
        operation,
        input=inputs if operation.input is None else operation.input,
        output=outputs if operation.output is None else operation.output,
    )


def _content(span: Reader) -> tuple[Any, Any]:
    """Read input and output of an agent or a workflow, as messages."""
    input_value = entities.envelope(span, tl.ENTITY_INPUT)
    output_value = entities.envelope(span, tl.ENTITY_OUTPUT)
    crew = span.text(_CREW_RESULT)
    if output_value is UNSET and crew is not None:
        output_value = crew
    inputs = [] if input_value is UNSET else agent_messages(entities.run_input(input_value), "user")
    outputs = (
        []
        if output_value is UNSET
        else answer_in(agent_messages(entities.run_output(output_value), "assistant"))
    )
    return inputs or None, outputs or None


def _read_retrieval(span: Reader) -> Retrieval:
    input_value = entities.envelope(span, tl.ENTITY_INPUT)
    output_value = entities.envelope(span, tl.ENTITY_OUTPUT)
    operation: Retrieval = _read_as(span, "retrieval")
    query, documents = entities.query(input_value), entities.documents(output_value)
    return structs.replace(
        operation,
        query=operation.query if query is None else query,
        documents=operation.documents if documents is None else documents,
    )


def _read_handoff(span: Reader) -> ToolExecution:
    """Read a handoff of openai-agents; where it went is often not known when its span ends."""
    attributes = span.rest
    attributes.pop(tl.SPAN_KIND, None)
    if attributes.get(gen_ai.AGENT_NAME) == attributes.get(tl.HANDOFF_FROM):
        attributes.pop(gen_ai.AGENT_NAME, None)
    if attributes.get(tl.HANDOFF_TO) == "unknown":
        del attributes[tl.HANDOFF_TO]
    attributes[gen_ai.OPERATION_NAME] = "handoff"
    operation = _GEN_AI.read(span)
    assert isinstance(operation, ToolExecution)
    return operation


def _read_goto(span: Reader) -> Operation:
    """Read the target of LangGraph's `Command(goto=…)`; the end of the graph is no agent."""
    attributes = span.rest
    if attributes[tl.GOTO_TO] == "__end__":
        return onto.unclassified(span)
    attributes.pop(tl.SPAN_KIND, None)
    attributes[tl.HANDOFF_TO] = attributes.pop(tl.GOTO_TO)
    if tl.GOTO_FROM in attributes:
        attributes[tl.HANDOFF_FROM] = attributes.pop(tl.GOTO_FROM)
    attributes[gen_ai.OPERATION_NAME] = "handoff"
    return _GEN_AI.read(span)


def _read_mcp(span: Reader) -> Operation:
    """Read an MCP request; its span is INTERNAL, made where the request is sent."""
    attributes = span.rest
    if span.span.kind not in ("CLIENT", "SERVER"):
        span.span = structs.replace(span.span, kind="CLIENT")
    name = span.text(tl.ENTITY_NAME)
    if name and gen_ai.TOOL_NAME not in attributes and attributes[mcp.METHOD_NAME] == "tools/call":
        attributes[gen_ai.TOOL_NAME] = name
    attributes.pop(tl.SPAN_KIND, None)
    attributes.setdefault(gen_ai.OPERATION_NAME, "execute_tool")
    for key, new, opened in (
        (tl.ENTITY_INPUT, gen_ai.TOOL_CALL_ARGUMENTS, entities.mcp_arguments),
        (tl.ENTITY_OUTPUT, gen_ai.TOOL_CALL_RESULT, entities.mcp_result),
    ):
        if key in attributes and new not in attributes:
            value = opened(entities.envelope(span, key))
            if value is not UNSET:
                attributes[new] = dumps(value) if isinstance(value, str) else value
    return _GEN_AI.read(span)


# ------------------------------------------------------------------------------------- writing

_REQUEST_TYPES = {"text_completion": "completion", "embeddings": "embedding"}


def _write(op: Operation) -> WrittenSpan:
    name, span_kind, attributes = _GEN_AI.write(op)
    own_attributes: Attributes = {}
    match op:
        case Inference() | Embeddings():
            operation = str(attributes[gen_ai.OPERATION_NAME])
            own_attributes[tl.REQUEST_TYPE] = _REQUEST_TYPES.get(operation, "chat")
        case ToolExecution():
            name, own_attributes = f"{op.name}.{tl.TOOL}", _name_attributes(tl.TOOL, op.name)
            for key in (gen_ai.TOOL_CALL_ARGUMENTS, gen_ai.TOOL_CALL_RESULT):
                attributes.pop(key, None)
            attributes.pop(agentool.TOOL_WRAPPED, None)
            if op.transfer_message is not None:
                attributes[agentool.TRANSFER_MESSAGE] = op.transfer_message
            for key, member, value in (
                (tl.ENTITY_INPUT, "inputs", op.arguments),
                (tl.ENTITY_OUTPUT, "output", op.result),
            ):
                if value is not UNSET:
                    encoded = value.text if isinstance(value, LazyJson) else dumps(value)
                    own_attributes[key] = f'{{"{member}":{encoded}}}'
        case AgentInvocation():
            name, own_attributes = _title(name, tl.AGENT, op.agent_name)
        case WorkflowInvocation():
            name, own_attributes = _title(name, tl.WORKFLOW, op.workflow_name)
        case McpRequest():
            own_attributes[tl.SPAN_KIND] = tl.TOOL if op.method == "tools/call" else tl.TASK
        case _:
            own_attributes[tl.SPAN_KIND] = str(op.extra.get(tl.SPAN_KIND, tl.TASK))
    if op.conversation_id is not None:
        own_attributes[tl.ASSOCIATION + "session_id"] = op.conversation_id
    return WrittenSpan(name, span_kind, {**attributes, **own_attributes})


def _name_attributes(kind: str, name: str) -> Attributes:
    return {tl.SPAN_KIND: kind, tl.ENTITY_NAME: name}


def _title(name: str, kind: str, entity: str | None) -> tuple[str, Attributes]:
    if entity is None:
        return name, {tl.SPAN_KIND: kind}
    return f"{entity}.{kind}", _name_attributes(kind, entity)
