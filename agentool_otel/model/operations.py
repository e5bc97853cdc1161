"""Content of one span, independent of any vocabulary.

An operation is the neutral middle between live wrappers, dialects and the rebuild: dialects write
it to span attributes and read it back. `None` and `UNSET` mean unknown or absent, never zero or
empty. Content whose value may itself be JSON null (arguments, results) uses `UNSET` for "absent".

The union `Operation` is closed, so that `match` is exhaustive; what a dialect cannot classify is
`Unclassified` and keeps all its attributes in `extra`.

These are msgspec Structs rather than dataclasses: one is made per traced call in the user's
program, and a frozen dataclass with this many fields costs several times more to construct.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, cast

from msgspec import UNSET, Struct, UnsetType

from agentool_otel.model.messages import Message, Part

__all__ = [
    "UNSET",
    "AgentCreation",
    "AgentInvocation",
    "Embeddings",
    "EvaluationResult",
    "FetchResponse",
    "Inference",
    "McpRequest",
    "MemoryOperation",
    "Operation",
    "Plan",
    "Retrieval",
    "ToolExecution",
    "Unclassified",
    "UnsetType",
    "Usage",
    "WorkflowInvocation",
    "records_in",
]

Json = Any
Extra = dict[str, Any]


class Usage(Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """Token counts of one model call. Subsets (cache, reasoning, modalities) are included in the
    totals."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    text_input_tokens: int | None = None
    image_input_tokens: int | None = None
    audio_input_tokens: int | None = None
    text_output_tokens: int | None = None
    image_output_tokens: int | None = None
    audio_output_tokens: int | None = None
    total_tokens: int | None = None
    """Only as reported by older vocabularies, to fill a gap; never written."""

    @property
    def total(self) -> int | None:
        """Input plus output tokens, one of them taken as 0 if unknown; without both, the reported
        total or None.
        """
        if self.input_tokens is None and self.output_tokens is None:
            return self.total_tokens
        return (self.input_tokens or 0) + (self.output_tokens or 0)


class _Common(Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """The members of every operation."""

    error_type: str | None = None
    """Low-cardinality class of the failure; None means the operation did not fail."""
    error_message: str | None = None
    """The span's status description."""
    conversation_id: str | None = None
    extra: Extra = {}
    """Attributes this operation has no field for, as they were; they are written unchanged."""


class Inference(_Common, frozen=True, kw_only=True):
    """One call of a model."""

    kind: ClassVar[str] = "inference"
    operation: str = "chat"
    """chat, generate_content or text_completion."""
    provider: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    response_id: str | None = None
    previous_response_id: str | None = None
    finish_reasons: list[str] | None = None
    system: Sequence[Part] | None = None
    input: Sequence[Message] | None = None
    output: list[Message] | None = None
    tools: Sequence[Json] | None = None
    """Tool definitions offered to the model: {type, name, description?, parameters?}."""
    usage: Usage | None = None
    cost_usd: float | None = None
    stream: bool | None = None
    time_to_first_chunk_s: float | None = None
    output_type: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    max_tokens: int | None = None
    frequency_penalty: float | None = None
    presence_penalty: float | None = None
    stop_sequences: list[str] | None = None
    seed: int | None = None
    choice_count: int | None = None
    reasoning_level: str | None = None
    compacted: bool | None = None
    server_address: str | None = None
    server_port: int | None = None


class Embeddings(_Common, frozen=True, kw_only=True):
    """One call of an embedding model."""

    kind: ClassVar[str] = "embeddings"
    provider: str | None = None
    request_model: str | None = None
    response_model: str | None = None
    dimensions: int | None = None
    encoding_formats: list[str] | None = None
    usage: Usage | None = None
    cost_usd: float | None = None
    server_address: str | None = None
    server_port: int | None = None


class Retrieval(_Common, frozen=True, kw_only=True):
    """A look-up in a grounding source."""

    kind: ClassVar[str] = "retrieval"
    provider: str | None = None
    request_model: str | None = None
    data_source_id: str | None = None
    query: str | None = None
    documents: list[Json] | None = None
    top_k: int | None = None
    server_address: str | None = None
    server_port: int | None = None


class FetchResponse(_Common, frozen=True, kw_only=True):
    """Fetching a stored model response; no inference happens."""

    kind: ClassVar[str] = "fetch_response"
    provider: str | None = None
    response_id: str | None = None
    response_model: str | None = None
    response_status: str | None = None
    finish_reasons: list[str] | None = None
    output: list[Message] | None = None
    server_address: str | None = None
    server_port: int | None = None


class ToolExecution(_Common, frozen=True, kw_only=True):
    """One execution of a tool."""

    kind: ClassVar[str] = "tool"
    name: str = "unknown"
    """Empty where a span is of a part of the execution, and the one around it names the tool."""
    call_id: str | None = None
    tool_type: str | None = None
    """function, extension or datastore."""
    description: str | None = None
    arguments: Json | UnsetType = UNSET
    result: Json | UnsetType = UNSET
    agent_name: str | None = None
    """The agent that executes the tool."""
    transfer_target: str | None = None
    """Set when the tool hands over to another agent: the agent it hands to."""
    transfer_message: str | None = None
    tool_error: str | None = None
    """Error that the tool itself reported, as text."""
    duration_ms: float | None = None
    """As reported, which may differ from the span's length."""
    cost_tokens: int | None = None
    exit_code: int | None = None
    """Exit code of the command that the tool ran."""


class AgentInvocation(_Common, frozen=True, kw_only=True):
    """One run of an agent. `remote` distinguishes a hosted agent service from an agent in this
    process.
    """

    kind: ClassVar[str] = "agent"
    remote: bool = False
    provider: str | None = None
    agent_name: str | None = None
    agent_id: str | None = None
    agent_version: str | None = None
    agent_description: str | None = None
    request_model: str | None = None
    system: Sequence[Part] | None = None
    input: Sequence[Message] | None = None
    output: list[Message] | None = None
    tools: Sequence[Json] | None = None
    finish_reasons: list[str] | None = None
    usage: Usage | None = None
    """A roll-up over the run where the source carries one; never added to the leaves."""
    output_type: str | None = None
    data_source_id: str | None = None
    previous_response_id: str | None = None
    server_address: str | None = None
    server_port: int | None = None


class WorkflowInvocation(_Common, frozen=True, kw_only=True):
    """One run of a coordinated process of several agents."""

    kind: ClassVar[str] = "workflow"
    workflow_name: str | None = None
    input: Sequence[Message] | None = None
    output: list[Message] | None = None


class Plan(_Common, frozen=True, kw_only=True):
    """An explicit planning phase; the plan's text is in the model call below it."""

    kind: ClassVar[str] = "plan"
    agent_name: str | None = None


class AgentCreation(_Common, frozen=True, kw_only=True):
    """Creation of an agent at a hosted service."""

    kind: ClassVar[str] = "create_agent"
    provider: str | None = None
    request_model: str | None = None
    agent_name: str | None = None
    agent_id: str | None = None
    agent_version: str | None = None
    agent_description: str | None = None
    system: Sequence[Part] | None = None
    server_address: str | None = None
    server_port: int | None = None


class MemoryOperation(_Common, frozen=True, kw_only=True):
    """A read or a write of an agent's memory."""

    kind: ClassVar[str] = "memory"
    operation: str = "search_memory"
    """search_memory, create_memory, update_memory, upsert_memory, delete_memory,
    create_memory_store or delete_memory_store."""
    provider: str | None = None
    store_id: str | None = None
    record_id: str | None = None
    """The key a value was written under, or the id of the one record that is concerned."""
    record_count: int | None = None
    """Number of records found, or to be written or deleted."""
    query: str | None = None
    records: list[Json] | None = None
    """Records, if the memory has a type of its own for them: {content, id?, metadata?, score?}."""
    content: Json | UnsetType = UNSET
    """The value that was written."""
    results: Json | UnsetType = UNSET
    """Result of a search, exactly as the memory returned it."""
    server_address: str | None = None
    server_port: int | None = None

    @property
    def reads(self) -> bool:
        return self.operation == "search_memory"


def records_in(results: Json) -> int:
    """Return how many records a search returned: the items of a list, none for null, else one."""
    if isinstance(results, list):
        return len(cast("list[object]", results))
    return 0 if results is None else 1


class McpRequest(_Common, frozen=True, kw_only=True):
    """One MCP request, seen by the client or by the server."""

    kind: ClassVar[str] = "mcp"
    side: Literal["client", "server"] = "client"
    method: str = "tools/call"
    tool_name: str | None = None
    tool_type: str | None = None
    call_id: str | None = None
    prompt_name: str | None = None
    resource_uri: str | None = None
    request_id: str | None = None
    session_id: str | None = None
    protocol_version: str | None = None
    transport: str | None = None
    arguments: Json | UnsetType = UNSET
    result: Json | UnsetType = UNSET
    server_address: str | None = None
    server_port: int | None = None


class EvaluationResult(_Common, frozen=True, kw_only=True):
    """A judgement of a span; an event or log record rather than a span of its own."""

    kind: ClassVar[str] = "evaluation"
    name: str = "unknown"
    score: float | None = None
    label: str | None = None
    explanation: str | None = None
    response_id: str | None = None


class Unclassified(_Common, frozen=True, kw_only=True):
    """A span no dialect has a meaning for. All its attributes are in `extra`."""

    kind: ClassVar[str] = "unclassified"


Operation = (
    Inference
    | Embeddings
    | Retrieval
    | FetchResponse
    | ToolExecution
    | AgentInvocation
    | WorkflowInvocation
    | Plan
    | AgentCreation
    | MemoryOperation
    | McpRequest
    | EvaluationResult
    | Unclassified
)
