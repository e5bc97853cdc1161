"""The OpenTelemetry GenAI conventions, written at baseline 2026-10 or as an older generation, read
at every one.

Spec: open-telemetry/semantic-conventions-genai, baseline `semconv.gen_ai.BASELINE`; older forms are
brought up to it by `gen_ai.older` before reading.

What the vocabulary cannot carry:
- An in-process agent (INTERNAL `invoke_agent`) has no provider, version or server attributes, and
  its id goes to `agentool.agent.id`; they are written for remote agents only.
- `Usage.total_tokens` is read to fill a gap and never written.
- Arguments and results must be JSON objects: others travel wrapped, see `agentool.tool.wrapped`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from agentool_otel.dialects.gen_ai.content import CONTENT
from agentool_otel.dialects.gen_ai.fields import (
    COMMON_TABLE,
    FIELDS,
    NULLABLE,
    SERVER,
    TABLES,
    USAGE,
    Entry,
    Field,
)
from agentool_otel.dialects.gen_ai.memory import read_records, with_records
from agentool_otel.dialects.gen_ai.older_names import CHOICE
from agentool_otel.dialects.gen_ai.payload import (
    tool_payload,
    unwrap_payload,
    write_message,
    write_payload,
)
from agentool_otel.dialects.gen_ai.unlisted import operation_of
from agentool_otel.dialects.kit.agent_tools import AgentTools
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    Confidence,
    Markers,
    Shape,
    WrittenSpan,
)
from agentool_otel.dialects.kit.errors import take_exception
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import (
    UNSET,
    AgentCreation,
    AgentInvocation,
    Embeddings,
    EvaluationResult,
    FetchResponse,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Plan,
    Retrieval,
    ToolExecution,
    Unclassified,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord
from agentool_otel.semconv import agentool, core, gen_ai, mcp, table

if TYPE_CHECKING:
    from agentool_otel.dialects.gen_ai.plain import PlainReader
    from agentool_otel.semconv.table import Generation

__all__ = ["GenAI", "tool_payload"]


_REMOTE_ONLY = frozenset(
    {"provider", "agent_version", "previous_response_id", "server_address", "server_port"}
)
"""Fields of an agent invocation that the convention forbids on the in-process span."""

_INFERENCE = frozenset({"chat", "generate_content", "text_completion"})
_MEMORY = frozenset(
    {
        "search_memory",
        "create_memory",
        "update_memory",
        "upsert_memory",
        "delete_memory",
        "create_memory_store",
        "delete_memory_store",
    }
)
_CLASSES: dict[str, type] = {
    "embeddings": Embeddings,
    "retrieval": Retrieval,
    "fetch_response": FetchResponse,
    "invoke_agent": AgentInvocation,
    "invoke_workflow": WorkflowInvocation,
    "plan": Plan,
    "create_agent": AgentCreation,
}
_HANDOFFS = frozenset({"agent_handoff", "handoff"})
_LISTED = frozenset({"execute_tool", *_INFERENCE, *_MEMORY, *_HANDOFFS, *_CLASSES})

_BARE = (
    *(("arguments", "input"), ("result", "output")),
    *(("arguments", "input.value"), ("result", "output.value")),
)
"""Names of no generation: programs that fill in spans by hand use the first, Koog the others."""
_EXCEPTION = "gen_ai.client.operation.exception"
_HANDOFF = re.compile(r"handoff from (.+) to (.+)", re.DOTALL)
_PRINTED_CLASS = re.compile(r"<class '([^']+)'>")
"""Form of `error.type` in contrib's openai-v2 2.4."""
_NAMESPACES = ("gen_ai.", *table.NAMED_BY_US)
_HAS_OPERATION = Confidence(0.9, "has gen_ai.operation.name")
_HAS_METHOD = Confidence(0.9, "has mcp.method.name")
_IS_UNCAUGHT = Confidence(0.9, f"has {agentool.UNCAUGHT}")


class GenAI:
    """The dialect.

    Args:
        generation: the names to write: one of `semconv.table.GENERATIONS`, or `latest`.

    Raises:
        ConfigurationError: if the generation is not known.
    """

    name = "gen_ai"
    markers = Markers(
        keys=(*_NAMESPACES, mcp.METHOD_NAME, agentool.UNCAUGHT),
        namespaces=("gen_ai.", "mcp.", "agentool."),
    )
    content = CONTENT
    agent_tools = AgentTools(handoffs=("transfer_to_", "transfer"))
    """As `write` names the tool of a handoff; many frameworks have the same names."""

    def __init__(self, generation: str = gen_ai.BASELINE):
        self.generation = table.generation(generation)
        self.is_baseline = self.generation is table.GENERATIONS[gen_ai.BASELINE]
        self._downgrade: Callable[[Attributes, Generation], Attributes] | None = None
        if not self.is_baseline:
            from agentool_otel.dialects.gen_ai.older import downgrade

            self._downgrade = downgrade

    @property
    def schema_url(self) -> str:
        """Of the names written, for the scope of the spans."""
        return self.generation.schema_url

    def recognise(self, span: SpanRecord) -> Confidence:
        attributes = span.attributes
        if gen_ai.OPERATION_NAME in attributes:
            return _HAS_OPERATION
        if mcp.METHOD_NAME in attributes:
            return _HAS_METHOD
        if agentool.UNCAUGHT in attributes:
            return _IS_UNCAUGHT
        for key in attributes:
            if key.startswith(_NAMESPACES):
                return Confidence(0.5, f"has {key}")
        for event in span.events:
            if event.name.startswith("gen_ai."):
                return Confidence(0.5, f"has event {event.name}")
        return NOT_MINE

    def reader_for(self, shape: Shape) -> PlainReader | None:
        """Return how spans of this shape are read at once, if they can be."""
        from agentool_otel.dialects.gen_ai.plain import PlainReader

        return PlainReader.of(shape)

    def read(self, span: Reader) -> Operation:
        _upgrade(span)
        name = span.text(gen_ai.OPERATION_NAME)
        kind = _kind(span)
        if (
            name in (None, "execute_tool")
            and mcp.METHOD_NAME in span.rest
            and kind in ("CLIENT", "SERVER")
        ):
            return _read_mcp(span)
        if name is not None and name in _LISTED:
            return _read_named(span, name)
        if name is not None:
            span.rest[gen_ai.OPERATION_NAME] = name
        if gen_ai.EVALUATION_NAME in span.rest:
            fields = _read_fields(span, TABLES[EvaluationResult])
            return EvaluationResult(**fields, extra=span.rest)
        if (shown := operation_of(name, span.rest)) is not None:
            return _read_named(span, shown)
        return Unclassified(**_read_fields(span, COMMON_TABLE), extra=span.rest)

    def write(self, operation: Operation) -> WrittenSpan:
        """Return span name, kind and attributes.

        The error of an operation is written as `error.type`; the caller sets the span's status.
        """
        written = _write(operation)
        return written._replace(attributes=self.named(written.attributes))

    def draft(self, operation: Operation) -> WrittenSpan:
        """Return the same under the baseline's names, for callers that add to it before `named`."""
        return _write(operation)

    @property
    def tells_messages(self) -> bool:
        """Return whether this generation has the messages of model calls only as events."""
        return CHOICE in self.generation.events

    @property
    def needs_finish_reasons(self) -> bool:
        """Return whether each output message needs a finish reason in this generation."""
        return self._downgrade is not None

    def message_events(self, attribute: str, text: str) -> list[tuple[str, dict[str, Any]]]:
        """Return names and bodies of the events equivalent to a message attribute, in order;
        nothing if its JSON text does not hold messages."""
        from agentool_otel.dialects.gen_ai.message_events import message_events

        return message_events(attribute, text)

    def named(self, attributes: Attributes) -> Attributes:
        """Return attributes of the baseline under the names of the generation."""
        downgrade = self._downgrade
        return attributes if downgrade is None else downgrade(attributes, self.generation)


# ------------------------------------------------------------------------------------- reading


def _first_upgrade(span: Reader) -> None:
    """Load the reader of older generations, which is not needed to write spans."""
    global _upgrade
    from agentool_otel.dialects.gen_ai.older import upgrade

    _upgrade = upgrade
    upgrade(span)


_upgrade: Callable[[Reader], None] = _first_upgrade


def _read_fields(span: Reader, table: dict[str, Entry]) -> dict[str, Any]:
    """Return the fields of an operation, including the common ones; usage as `Usage`.

    Goes through the attributes there are rather than through those there could be.
    """
    values: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    remainder: Attributes = {}
    others: list[tuple[str, Entry]] = []
    find, placeholders = table.get, span.placeholders
    for key, value in span.rest.items():
        entry = find(key)
        if entry is None:
            remainder[key] = value
        elif type(value) is entry[2] and value not in placeholders:
            (usage if entry[3] else values)[entry[0]] = value
        else:
            remainder[key] = value
            others.append((key, entry))
    span.rest = remainder
    for key, (name, read, _, of_usage) in others:
        value = read(span, key)
        if value is not UNSET and (value is not None or read in NULLABLE):
            (usage if of_usage else values)[name] = value
    if gen_ai.USAGE_TOTAL_TOKENS in remainder and gen_ai.USAGE_INPUT_TOKENS in table:
        total = span.integer(gen_ai.USAGE_TOTAL_TOKENS)
        if total is not None:
            usage["total_tokens"] = total
    if usage:
        values["usage"] = Usage(**usage)
    if core.ERROR_TYPE in remainder or span.span.status == STATUS_ERROR:
        _read_error(span, values)
    elif span.span.events:
        _read_exception(span, values)
    return values


def _read_error(span: Reader, values: dict[str, Any]) -> None:
    if core.ERROR_TYPE not in span.rest:
        take_exception(span)
    record = span.span
    error = span.text(core.ERROR_TYPE) if core.ERROR_TYPE in span.rest else None
    if error is None and record.status == STATUS_ERROR:
        error = "_OTHER"  # Spec: the fallback value of error.type
    if error is not None:
        printed = _PRINTED_CLASS.fullmatch(error)
        values["error_type"] = printed[1] if printed else error
        if record.status_message is not None:
            values["error_message"] = record.status_message


def _read_exception(span: Reader, values: dict[str, Any]) -> None:
    """Take the error of a span that is recorded only in an event."""
    for event in span.span.events:
        if event.name == _EXCEPTION:
            values["error_type"] = str(event.attributes.get("exception.type") or "_OTHER")
            message = event.attributes.get("exception.message")
            if isinstance(message, str):
                values["error_message"] = message


def _read_named(span: Reader, name: str) -> Operation:
    """Read a span as an operation of the convention's list."""
    if name == "execute_tool":
        return _read_tool(span)
    if name in _INFERENCE:
        return _read_inference(span, name)
    if name in _MEMORY:
        fields = _read_fields(span, TABLES[MemoryOperation])
        read_records(span, name, fields)
        return MemoryOperation(operation=name, **fields, extra=span.rest)
    if name in _HANDOFFS:
        return _read_handoff(span)
    return _read_class(span, _CLASSES[name])


def _read_inference(span: Reader, operation: str) -> Inference:
    fields = _read_fields(span, TABLES[Inference])
    return Inference(operation=operation, **fields, extra=span.rest)


def _kind(span: Reader) -> str:
    """Return the span's kind: from our own attribute, as several stores drop it, else as stored."""
    kind = span.rest.get(agentool.SPAN_KIND)
    return kind if isinstance(kind, str) else span.span.kind


def _read_mcp(span: Reader) -> McpRequest:
    side: Literal["client", "server"] = "client" if _kind(span) == "CLIENT" else "server"
    method = span.text(mcp.METHOD_NAME) or ""
    fields = _read_fields(span, TABLES[McpRequest])
    unwrap_payload(span, fields)
    if method == "tools/call" and "tool_name" not in fields:  # MCP's own client: in the name only
        fields["tool_name"] = span.span.name.partition(f"{method} ")[2] or None
    return McpRequest(side=side, method=method, **fields, extra=span.rest)


def _read_class(span: Reader, cls: type) -> Operation:
    fields = _read_fields(span, TABLES[cls])
    if cls is AgentInvocation:
        fields["remote"] = _kind(span) == "CLIENT"
        if "agent_id" not in fields and (agent_id := span.text(agentool.AGENT_ID)) is not None:
            fields["agent_id"] = agent_id
    operation: Operation = cls(**fields, extra=span.rest)
    return operation


def _read_tool(span: Reader) -> ToolExecution:
    fields = _read_fields(span, TABLES[ToolExecution])
    unwrap_payload(span, fields)
    for name, bare in _BARE:
        if name not in fields and bare in span.rest:
            fields[name] = span.lazy_json(bare)
    if "name" not in fields:
        fields["name"] = span.span.name.removeprefix("execute_tool").strip() or "unknown"
    return ToolExecution(**fields, extra=span.rest)


def _read_handoff(span: Reader) -> ToolExecution:
    """Handoff spans of the openai-agents instrumentations.

    Source: contrib openai-agents v2 and OpenLLMetry, `gen_ai.operation.name` = agent_handoff;
    Sentry's has the agents in the name of the span only.
    """
    target = span.text("gen_ai.handoff.to_agent")
    source = span.text("gen_ai.handoff.from_agent")
    if target is None and (named := _HANDOFF.fullmatch(span.span.name)):
        source, target = named.groups()
    name = f"transfer_to_{target}" if target else "transfer"
    fields = _read_fields(span, COMMON_TABLE)
    return ToolExecution(
        name=name, transfer_target=target, agent_name=source, **fields, extra=span.rest
    )


# ------------------------------------------------------------------------------------- writing


def _write(op: Operation) -> WrittenSpan:
    match op:
        case ToolExecution():
            return _write_tool(op)
        case Inference():
            return _plain(op, op.operation, op.request_model, "CLIENT", op.usage)
        case AgentInvocation():
            return _write_agent(op)
        case Embeddings():
            return _plain(op, "embeddings", op.request_model, "CLIENT", op.usage)
        case Retrieval():
            return _plain(op, "retrieval", op.data_source_id, "CLIENT")
        case FetchResponse():
            return _plain(op, "fetch_response", None, "CLIENT")
        case WorkflowInvocation():
            return _plain(op, "invoke_workflow", op.workflow_name, "INTERNAL")
        case Plan():
            return _plain(op, "plan", op.agent_name, "INTERNAL")
        case AgentCreation():
            return _plain(op, "create_agent", op.agent_name, "CLIENT")
        case MemoryOperation():
            return _write_memory(op)
        case McpRequest():
            return _write_mcp(op)
        case EvaluationResult():
            attributes = _write_fields(op, FIELDS[EvaluationResult], {})
            return WrittenSpan(f"evaluate {op.name}", "INTERNAL", _finish(op, attributes))
        case Unclassified():
            attributes = _finish(op, {})
            return WrittenSpan(
                str(op.extra.get(gen_ai.OPERATION_NAME, "unknown")), "INTERNAL", attributes
            )


def _write_fields(op: Any, fields: tuple[Field, ...], attributes: Attributes) -> Attributes:
    for name, attribute, read, encode in fields:
        value = getattr(op, name)
        if value is UNSET or (value is None and read is not Reader.json):
            continue
        if encode is not None and (value := encode(value)) is None:
            continue
        attributes[attribute] = value
    return attributes


def _finish(op: Operation, attributes: Attributes) -> Attributes:
    if op.conversation_id is not None:
        attributes[gen_ai.CONVERSATION_ID] = op.conversation_id
    if op.error_type is not None:
        attributes[core.ERROR_TYPE] = op.error_type
    if op.extra:
        attributes.update(op.extra)
    return attributes


def _plain(
    op: Operation, operation: str, target: str | None, kind: str, usage: Usage | None = None
) -> WrittenSpan:
    attributes: Attributes = {gen_ai.OPERATION_NAME: operation}
    _write_fields(op, FIELDS[type(op)], attributes)
    if usage is not None:
        _write_fields(usage, USAGE, attributes)
    name = f"{operation} {target}" if target else operation
    return WrittenSpan(name, kind, _finish(op, attributes))


def _write_agent(op: AgentInvocation) -> WrittenSpan:
    attributes: Attributes = {gen_ai.OPERATION_NAME: "invoke_agent"}
    _write_fields(op, FIELDS[AgentInvocation], attributes)
    if op.usage is not None:
        _write_fields(op.usage, USAGE if op.remote else USAGE[:2], attributes)
    if not op.remote:
        for field in FIELDS[AgentInvocation]:
            if field.name in _REMOTE_ONLY:
                attributes.pop(field.attribute, None)
        if (agent_id := attributes.pop(gen_ai.AGENT_ID, None)) is not None:
            attributes[agentool.AGENT_ID] = agent_id
    name = f"invoke_agent {op.agent_name}" if op.agent_name else "invoke_agent"
    return WrittenSpan(name, "CLIENT" if op.remote else "INTERNAL", _finish(op, attributes))


def _write_tool(op: ToolExecution) -> WrittenSpan:
    attributes: Attributes = {gen_ai.OPERATION_NAME: "execute_tool", gen_ai.TOOL_NAME: op.name}
    _write_fields(op, FIELDS[ToolExecution], attributes)
    write_payload(op, attributes, write_message(op, attributes))
    return WrittenSpan(f"execute_tool {op.name}", "INTERNAL", _finish(op, attributes))


def _write_memory(op: MemoryOperation) -> WrittenSpan:
    op, wrapped = with_records(op)
    written = _plain(op, op.operation, None, "CLIENT" if op.server_address else "INTERNAL")
    if wrapped is not None:
        written.attributes[agentool.MEMORY_WRAPPED] = wrapped
    return written


def _write_mcp(op: McpRequest) -> WrittenSpan:
    attributes: Attributes = {mcp.METHOD_NAME: op.method}
    if op.method == "tools/call":
        attributes[gen_ai.OPERATION_NAME] = "execute_tool"
    _write_fields(op, FIELDS[McpRequest], attributes)
    if op.side == "client":
        _write_fields(op, SERVER, attributes)
    write_payload(op, attributes, [])
    target = op.tool_name or op.prompt_name
    name = f"{op.method} {target}" if target else op.method
    return WrittenSpan(name, "CLIENT" if op.side == "client" else "SERVER", _finish(op, attributes))
