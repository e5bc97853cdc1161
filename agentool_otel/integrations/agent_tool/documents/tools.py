"""Objects that describe tools: declarations, interfaces, profiles, surfaces, scheduling."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from agentool_otel.ground.json_codec import Json
from agentool_otel.integrations.agent_tool.documents import vocabulary as words
from agentool_otel.integrations.agent_tool.documents.common import OpenObject, Versioned
from agentool_otel.model.documents import UNSET, Maybe, Number

__all__ = [
    "DeferredTool",
    "ExecutionProfile",
    "PermissionProfile",
    "SchedulerPolicy",
    "ToolDeclaration",
    "ToolInterface",
    "ToolSurface",
]

Object = dict[str, Any]
Texts = list[str]
Lifecycle = Annotated[str, Meta(examples=list(words.LIFECYCLE_STATES))]
ToolKind = Annotated[str, Meta(examples=list(words.TOOL_KINDS))]
LoadingState = Annotated[str, Meta(examples=list(words.LOADING_STATES))]
RiskLevel = Annotated[str, Meta(examples=list(words.RISK_LEVELS))]


class ToolDeclaration(Versioned, frozen=True, kw_only=True):
    """Stable description of one callable capability."""

    REQUIRES: ClassVar[tuple[str, ...]] = (
        "schema_version",
        "namespace",
        "description",
        "lifecycle",
        "tool_kind",
    )

    tool_id: str
    """Stable, unique for its producer."""
    namespace: Maybe[str] = UNSET
    """Within which names do not collide."""
    name: str
    """For machines."""
    aliases: Maybe[Texts] = UNSET
    """Other names it is called by."""
    search_hint: Maybe[str] = UNSET
    """Words to find the tool by."""
    title: Maybe[str] = UNSET
    """For people."""
    description: Maybe[str] = UNSET
    """For models: when and how to use it."""
    lifecycle: Maybe[Lifecycle] = UNSET
    """Lifecycle state of the tool; an unknown word is kept."""
    tool_kind: Maybe[ToolKind] = UNSET
    """Kind of execution; an unknown word is kept."""
    capability_refs: Maybe[Texts] = UNSET
    """Capabilities it provides."""
    input_contract: Maybe[Object] = UNSET
    """Schemas of the input (`model_input_schema`, in some examples `schema`), `sensitive_fields`,
    `internal_only_fields` and more."""
    output_contract: Maybe[Object] = UNSET
    """Schema of the output (`structured_schema`), limits and more."""
    interface_ref: Maybe[str] = UNSET
    """Its ToolInterface."""
    execution_profile_ref: Maybe[str] = UNSET
    """Its ExecutionProfile."""
    permission_profile_ref: Maybe[str] = UNSET
    """Its PermissionProfile."""
    external_mappings: Maybe[list[OpenObject]] = UNSET
    """The tool in native protocols."""
    annotations: Maybe[Object] = UNSET
    """Hints that nobody vouches for."""


class ToolInterface(Versioned, frozen=True, kw_only=True):
    """Runtime contract of a tool."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "tool_id")

    interface_id: str
    """Unique for its producer."""
    tool_id: Maybe[str] = UNSET
    """The tool."""
    name: Maybe[str] = UNSET
    """Its name."""
    aliases: Maybe[Texts] = UNSET
    """Other names it is called by."""
    search_hint: Maybe[str] = UNSET
    """Words to find the action by."""
    model_input_schema: Maybe[Object] = UNSET
    """Schema for the model."""
    runtime_input_schema: Maybe[Object] = UNSET
    """Schema for the executor, with internal members."""
    output_schema: Maybe[Object] = UNSET
    """Of structured results."""
    strict: Maybe[bool] = UNSET
    """Whether a provider enforces the schema."""
    schema_visibility: Maybe[str] = UNSET
    """loaded, deferred, internal or native_ref."""
    is_enabled: Json = UNSET
    """True, false, or the name of what decides."""
    is_read_only: Json = UNSET
    """True, false, or the name of what decides."""
    is_concurrency_safe: Json = UNSET
    """True, false, or the name of what decides."""
    is_destructive: Json = UNSET
    """True, false, or the name of what decides."""
    is_open_world: Json = UNSET
    """True, false, or the name of what decides."""
    requires_user_interaction: Maybe[bool] = UNSET
    """Whether a person takes part."""
    classifier_input: Json = UNSET
    """Input for a classifier."""
    permission_matcher: Maybe[str] = UNSET
    """Text that permission rules are matched with."""
    execution_profile_ref: Maybe[str] = UNSET
    """Its ExecutionProfile."""
    permission_profile_ref: Maybe[str] = UNSET
    """Its PermissionProfile."""
    persistence_policy_ref: Maybe[str] = UNSET
    """Reference to the policy for large results."""
    max_inline_chars: Maybe[Number] = UNSET
    """Longer results are persisted."""
    rendering: Maybe[Object] = UNSET
    """Hints for display."""
    external_mappings: Maybe[list[OpenObject]] = UNSET
    """The action in native protocols."""


class ExecutionProfile(Versioned, frozen=True, kw_only=True):
    """Execution of a tool."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "execution_kind")

    execution_profile_id: str
    """Unique for its producer."""
    execution_kind: Maybe[str] = UNSET
    """Local, remote, browser, shell and others."""
    supports_progress: Maybe[bool] = UNSET
    """Whether it reports progress."""
    supports_cancel: Maybe[bool] = UNSET
    """Whether it can be cancelled."""
    sandboxed: Maybe[bool] = UNSET
    """Whether it runs in a sandbox."""
    sandbox_profile: Maybe[str] = UNSET
    """Which."""
    timeout_ms: Maybe[Number] = UNSET
    """In milliseconds."""
    external_mappings: Maybe[list[OpenObject]] = UNSET
    """The profile in native protocols."""


class PermissionProfile(Versioned, frozen=True, kw_only=True):
    """Permissions and risks of a tool."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "risk_level")

    permission_profile_id: str
    """Unique for its producer."""
    risk_level: Maybe[RiskLevel] = UNSET
    """low, medium, high or critical."""
    access_kinds: Maybe[Texts] = UNSET
    """Kinds of data that it reads and writes."""
    write_effects: Maybe[Texts] = UNSET
    """Side effects of its writes."""
    network_scope: Maybe[str] = UNSET
    """Hosts that it may connect to."""
    tenant_scope: Maybe[str] = UNSET
    """Tenants whose data it may see."""
    credential_refs: Maybe[Texts] = UNSET
    """Credentials that it uses, by reference."""
    sandbox_profile: Maybe[str] = UNSET
    """Its sandbox."""
    approval_required: Maybe[bool] = UNSET
    """Whether a call needs approval."""
    approval_reason: Maybe[str] = UNSET
    """Why."""
    permission_channel: Maybe[str] = UNSET
    """Person or system that approves."""
    rule_matching_fields: Maybe[Texts] = UNSET
    """Members of the input that rules look at."""
    data_sensitivity: Maybe[str] = UNSET
    """Sensitivity of its data."""
    retention_hint: Maybe[str] = UNSET
    """Time for which its data may be kept."""
    redaction_required: Maybe[bool] = UNSET
    """Whether its data has to be redacted everywhere."""
    policy_refs: Maybe[Texts] = UNSET
    """Policies it rests on."""


class DeferredTool(Versioned, frozen=True, kw_only=True):
    """A tool that can be found, whose schema is not loaded."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version", "name")

    tool_id: str
    """The tool."""
    name: Maybe[str] = UNSET
    """Its name."""
    namespace: Maybe[str] = UNSET
    """Within which names do not collide."""
    search_hint: Maybe[str] = UNSET
    """Words to find the tool by."""
    source: Maybe[str] = UNSET
    """Origin of the tool."""
    schema_visibility: Maybe[str] = UNSET
    """loaded, deferred, internal or native_ref."""
    loading_state: LoadingState
    """State of loading; an unknown word is kept."""
    reason: Maybe[str] = UNSET
    """Why it is not loaded."""
    pending_provider_or_server: Maybe[str] = UNSET
    """Provider or server that has to respond first."""
    selection_ref: Maybe[str] = UNSET
    """Reference by which it is selected."""
    native_ref: Maybe[Object] = UNSET
    """The tool in its native protocol."""


class ToolSurface(Versioned, frozen=True, kw_only=True):
    """The tools that are there in a turn, task, session or another context."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version",)

    surface_id: str
    """Unique for its producer."""
    scope: str
    """turn, task, session, tenant, skill, peer agent or workspace."""
    created_at: Maybe[str] = UNSET
    """RFC 3339 time."""
    producer: Maybe[str] = UNSET
    """Creator of the collection."""
    tool_refs: Maybe[Texts] = UNSET
    """All its tools."""
    loaded_tools: Json = UNSET
    """Tools whose schema is loaded: ids, or objects."""
    deferred_tools: Json = UNSET
    """Tools whose schema is not: ids, or DeferredTools."""
    blocked_tools: Maybe[list[OpenObject]] = UNSET
    """Tools that may not be used, each with its `reason`."""
    excluded_tools: Maybe[list[OpenObject]] = UNSET
    """Tools that were left out, each with its `reason`."""
    selection_policy: Maybe[Object] = UNSET
    """Policy for the selection of tools."""
    default_tool_choice: Json = UNSET
    """Tool choice for the model."""
    capability_requirements: Maybe[Texts] = UNSET
    """Required capabilities."""
    model_capabilities: Maybe[Object] = UNSET
    """Capabilities of the model."""
    role_constraints: Maybe[Object] = UNSET
    """Roles that may use it."""
    surface_reason: Maybe[str] = UNSET
    """Why these tools."""
    policy_refs: Maybe[Texts] = UNSET
    """Policies it rests on."""
    runtime_refs: Maybe[Texts] = UNSET
    """Runtimes it is of."""


class SchedulerPolicy(Versioned, frozen=True, kw_only=True):
    """Scheduling of a set of invocations."""

    REQUIRES: ClassVar[tuple[str, ...]] = ("schema_version",)

    scheduler_policy_id: str
    """Unique for its producer."""
    scope: Maybe[str] = UNSET
    """Scope of the policy."""
    max_parallel: Maybe[Number] = UNSET
    """So many at a time."""
    ordering_policy: Maybe[str] = UNSET
    """preserve_terminal_order, allow_unordered or serial."""
    yield_policy: Maybe[str] = UNSET
    """progress_immediate_results_ordered, all_ordered or unordered_streaming."""
    interrupt_behavior: Maybe[str] = UNSET
    """cancel or block."""
    sibling_failure_policy: Maybe[str] = UNSET
    """ignore, cancel_siblings or cancel_dependent."""
    context_modifier_policy: Maybe[str] = UNSET
    """allow_serial_only, defer_until_batch_complete or forbid."""
    resource_locks: Maybe[list[OpenObject]] = UNSET
    """Resources that are locked meanwhile."""
