"""Objects that report calls: invocations, decisions, hooks, progress, results, events."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from agentool_otel.ground.json_codec import Json
from agentool_otel.integrations.agent_tool.documents import vocabulary as words
from agentool_otel.integrations.agent_tool.documents.common import (
    OpenObject,
    TelemetryRef,
    Versioned,
)
from agentool_otel.model.documents import UNSET, Document, Maybe, Number

__all__ = [
    "Event",
    "Hook",
    "InputMutation",
    "Invocation",
    "PermissionDecision",
    "Progress",
    "Result",
    "ResultPersistence",
    "ToolError",
]

Object = dict[str, Any]
Texts = list[str]
State = Annotated[str, Meta(examples=list(words.STATES))]
ResultStatus = Annotated[str, Meta(examples=list(words.RESULT_STATUSES))]
Behavior = Annotated[str, Meta(examples=list(words.BEHAVIORS))]
Strategy = Annotated[str, Meta(examples=list(words.PERSISTENCE_STRATEGIES))]
HookEvent = Annotated[str, Meta(examples=list(words.HOOK_EVENTS))]
MutationSource = Annotated[str, Meta(examples=list(words.MUTATION_SOURCES))]
ProgressStatus = Annotated[str, Meta(examples=list(words.PROGRESS_STATUSES))]
EventType = Annotated[str, Meta(examples=list(words.EVENT_TYPES))]
ErrorClass = Annotated[str, Meta(examples=list(words.ERROR_CLASSES))]


class Invocation(Versioned, frozen=True, kw_only=True):
    """One requested or executed tool call. Of each of its four inputs the value, a reference to it,
    or both may be there."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "tool_id", "status", "created_at")

    invocation_id: str
    """Unique for its producer."""
    tool_id: Maybe[str] = UNSET
    """The tool."""
    surface_id: Maybe[str] = UNSET
    """The surface it was selected from."""
    native_call_id: Maybe[str] = UNSET
    """Id of the call in the native protocol."""
    status: Maybe[State] = UNSET
    """State of the invocation; an unknown word is kept."""
    model_input: Json = UNSET
    """Arguments as the model, or the caller, gave them."""
    model_input_ref: Maybe[str] = UNSET
    """Reference to the input of the model."""
    observable_input: Json = UNSET
    """Input as hooks and transcripts see it."""
    observable_input_ref: Maybe[str] = UNSET
    """Reference to the observable input."""
    permission_input: Json = UNSET
    """Input that the permission decision is about."""
    permission_input_ref: Maybe[str] = UNSET
    """Reference to the permission input."""
    call_input: Json = UNSET
    """Input of the executor."""
    call_input_ref: Maybe[str] = UNSET
    """Reference to the input of the executor."""
    actor_ref: Maybe[str] = UNSET
    """The caller."""
    runtime_refs: Maybe[Texts] = UNSET
    """Runtimes it is of."""
    policy_refs: Maybe[Texts] = UNSET
    """Policies that apply."""
    permission_decision_refs: Maybe[Texts] = UNSET
    """Its PermissionDecisions."""
    hook_refs: Maybe[Texts] = UNSET
    """Its Hooks."""
    evidence_refs: Maybe[Texts] = UNSET
    """Evidence of it."""
    telemetry_refs: Maybe[list[TelemetryRef]] = UNSET
    """Its telemetry."""
    artifact_refs: Maybe[list[OpenObject]] = UNSET
    """References to the artifacts of the invocation."""
    scheduler_policy_ref: Maybe[str] = UNSET
    """Its SchedulerPolicy."""
    status_transitions: Maybe[list[OpenObject]] = UNSET
    """Its states in their order, with times."""
    created_at: Maybe[str] = UNSET
    """RFC 3339 time of the request."""
    started_at: Maybe[str] = UNSET
    """RFC 3339 time at which it began to run."""
    ended_at: Maybe[str] = UNSET
    """RFC 3339 time."""


class PermissionDecision(Versioned, frozen=True, kw_only=True):
    """Decision about an invocation."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "invocation_id", "decided_at")

    decision_id: str
    """Unique for its producer."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    behavior: Behavior
    """allow, ask, deny or passthrough; an unknown word is carried."""
    mode: Maybe[str] = UNSET
    """Permission mode in force."""
    source: Maybe[str] = UNSET
    """Origin of the rule."""
    reason: Maybe[Object] = UNSET
    """Why: its `type`, and what belongs to that."""
    rule_refs: Maybe[Texts] = UNSET
    """Rules it rests on."""
    policy_refs: Maybe[Texts] = UNSET
    """Policies it rests on."""
    updated_input: Json = UNSET
    """Input that replaces the one decided on."""
    updated_input_ref: Maybe[str] = UNSET
    """Reference to the updated input."""
    user_modified: Maybe[bool] = UNSET
    """Whether a person has changed the input."""
    suggested_updates: Maybe[list[OpenObject]] = UNSET
    """Changes of rules that were offered."""
    pending_classifier_check: Maybe[Object] = UNSET
    """A classifier that has not answered."""
    blocked_path: Maybe[str] = UNSET
    """The path that it is about."""
    content_blocks: Maybe[list[OpenObject]] = UNSET
    """Content that comes with it."""
    accept_feedback: Maybe[str] = UNSET
    """Comment of the person who accepted."""
    decided_at: Maybe[str] = UNSET
    """RFC 3339 time."""
    expires_at: Maybe[str] = UNSET
    """RFC 3339 time."""


class Hook(Versioned, frozen=True, kw_only=True):
    """A run of a hook."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version",)

    hook_id: str
    """Unique for its producer."""
    hook_event: HookEvent
    """At which point; an unknown word is carried."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    tool_id: Maybe[str] = UNSET
    """The tool."""
    matcher: Maybe[Object] = UNSET
    """Condition on which the hook runs."""
    outputs: Maybe[list[OpenObject]] = UNSET
    """Outputs of the hook."""
    permission_result: Maybe[Object] = UNSET
    """The hook's result on the permission."""
    updated_input: Json = UNSET
    """Input that replaces the one it saw."""
    additional_context: Maybe[list[OpenObject]] = UNSET
    """Context that it adds."""
    stop: Maybe[Object] = UNSET
    """Why nothing is to follow."""
    updated_output: Json = UNSET
    """Output that replaces the one it saw."""
    started_at: Maybe[str] = UNSET
    """RFC 3339 time."""
    ended_at: Maybe[str] = UNSET
    """RFC 3339 time."""


class InputMutation(Versioned, frozen=True, kw_only=True):
    """A change from one input of an invocation to another."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "invocation_id", "created_at")

    mutation_id: str
    """Unique for its producer."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    source_type: MutationSource
    """Kind of the author of the change; an unknown word is kept."""
    source_ref: Maybe[str] = UNSET
    """Reference to the author of the change."""
    from_input_ref: Maybe[str] = UNSET
    """Reference to the input before the change."""
    to_input_ref: Maybe[str] = UNSET
    """Reference to the input after the change."""
    changed_fields: Maybe[Texts] = UNSET
    """Members that differ."""
    reason: Maybe[str] = UNSET
    """Why."""
    created_at: Maybe[str] = UNSET
    """RFC 3339 time."""


class Progress(Versioned, frozen=True, kw_only=True):
    """Progress of an invocation."""

    REQUIRES: ClassVar[tuple[str, ...]] = (
        "schema_version",
        "invocation_id",
        "sequence",
        "status",
        "timestamp",
    )

    progress_id: str
    """Unique for its producer."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    sequence: Maybe[Number] = UNSET
    """Its place among those of the invocation."""
    status: Maybe[ProgressStatus] = UNSET
    """An unknown word is carried."""
    message: Maybe[str] = UNSET
    """For people."""
    percent: Maybe[Number] = UNSET
    """0 to 100."""
    current_step: Maybe[str] = UNSET
    """The current step."""
    total_steps: Maybe[Number] = UNSET
    """Of how many."""
    elapsed_ms: Maybe[Number] = UNSET
    """In milliseconds."""
    bytes_read: Maybe[Number] = UNSET
    """So far."""
    bytes_written: Maybe[Number] = UNSET
    """So far."""
    line_count: Maybe[Number] = UNSET
    """So far."""
    task_id: Maybe[str] = UNSET
    """Of work in the background."""
    partial_result_refs: Maybe[Texts] = UNSET
    """References to partial results."""
    artifact_refs: Maybe[list[OpenObject]] = UNSET
    """References to artifacts so far."""
    timestamp: Maybe[str] = UNSET
    """RFC 3339 time."""


class ToolError(Document, frozen=True, kw_only=True):
    """Why an invocation failed."""

    error_code: Maybe[str] = UNSET
    """Stable, of the producer."""
    error_class: Maybe[ErrorClass] = UNSET
    """An unknown word is carried."""
    message: Maybe[str] = UNSET
    """For people."""
    recoverability: Maybe[str] = UNSET
    """Change that a retry needs."""
    retry_after: Json = UNSET
    """When to try again."""
    native_error_ref: Maybe[str] = UNSET
    """The error in the native protocol."""
    policy_refs: Maybe[Texts] = UNSET
    """Policies that it rests on."""
    evidence_refs: Maybe[Texts] = UNSET
    """Evidence of it."""


class Result(Versioned, frozen=True, kw_only=True):
    """Result of an invocation."""

    REQUIRES: ClassVar[tuple[str, ...]] = (
        "schema_version",
        "invocation_id",
        "status",
        "created_at",
    )

    result_id: str
    """Unique for its producer."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    status: Maybe[ResultStatus] = UNSET
    """An unknown word is carried."""
    is_error: Maybe[bool] = UNSET
    """Whether the result counts as an error."""
    content: Maybe[list[OpenObject]] = UNSET
    """Text, media, files and others."""
    structured_content: Json = UNSET
    """By the output's schema."""
    model_facing_content: Maybe[list[OpenObject]] = UNSET
    """Content for the model."""
    ui_facing_summary: Maybe[str] = UNSET
    """Summary for a person."""
    resource_refs: Maybe[list[OpenObject]] = UNSET
    """References to resources that can be fetched."""
    artifact_refs: Maybe[list[OpenObject]] = UNSET
    """References to the artifacts of the invocation."""
    evidence_refs: Maybe[Texts] = UNSET
    """Evidence of it."""
    policy_refs: Maybe[Texts] = UNSET
    """Policies that applied."""
    telemetry_refs: Maybe[list[TelemetryRef]] = UNSET
    """Its telemetry."""
    persistence_refs: Maybe[Texts] = UNSET
    """Its ResultPersistences."""
    summary: Maybe[str] = UNSET
    """In a few words."""
    redaction_state: Maybe[str] = UNSET
    """Whether something was redacted."""
    error: Maybe[ToolError] = UNSET
    """Why it failed."""
    created_at: Maybe[str] = UNSET
    """RFC 3339 time."""


class ResultPersistence(Versioned, frozen=True, kw_only=True):
    """Decision about keeping a result."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "invocation_id", "created_at")

    decision_id: str
    """Unique for its producer."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    result_id: Maybe[str] = UNSET
    """The result."""
    strategy: Strategy
    """An unknown word is carried."""
    threshold: Maybe[Object] = UNSET
    """Threshold of the decision."""
    original_size_bytes: Maybe[Number] = UNSET
    """Of the payload."""
    preview_size_bytes: Maybe[Number] = UNSET
    """Of what stands in its place."""
    persisted_ref: Maybe[Object] = UNSET
    """Location of the result: `uri`, `media_type`, `digest`."""
    redaction_state: Maybe[str] = UNSET
    """Whether something was redacted."""
    reason: Maybe[str] = UNSET
    """Why."""
    created_at: Maybe[str] = UNSET
    """RFC 3339 time."""


class Event(Versioned, frozen=True, kw_only=True):
    """Something that happened to a declaration, a surface, an invocation or a result."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "event_id", "source", "time")

    event_id: Maybe[str] = UNSET
    """Unique for its source."""
    event_type: EventType
    """An unknown word is carried."""
    source: Maybe[str] = UNSET
    """Sender of the event."""
    subject: Maybe[str] = UNSET
    """Subject of the event."""
    time: Maybe[str] = UNSET
    """RFC 3339 time."""
    invocation_id: Maybe[str] = UNSET
    """The invocation."""
    tool_id: Maybe[str] = UNSET
    """The tool."""
    data: Maybe[Object] = UNSET
    """The object that the event is about, or objects by name."""
    trace_refs: Maybe[list[TelemetryRef]] = UNSET
    """Traces it belongs to."""
