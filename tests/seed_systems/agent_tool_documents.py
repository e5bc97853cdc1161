"""Objects of Agent Tool, written after its specification: one of each kind, and generated ones."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from agentool_otel.integrations.agent_tool.documents.objects import Versioned
from agentool_otel.model.codec import Field, fields_of
from agentool_otel.model.documents import Document
from tests.strategies import numbers, objects, values

__all__ = ["EXAMPLES", "PARTIAL", "generated", "invocation", "of"]

Object = dict[str, Any]
VERSION = {"schema_version": "0.2.0"}


def invocation(invocation_id: str = "inv_1", **members: Any) -> Object:
    """Return an invocation of a search."""
    return {
        **VERSION,
        "invocation_id": invocation_id,
        "tool_id": "tool_search",
        "status": "planned",
        "created_at": "2026-11-23T10:00:00Z",
        **members,
    }


EXAMPLES: dict[str, Object] = {
    "ToolDeclaration": {
        **VERSION,
        "tool_id": "tool_search",
        "namespace": "web",
        "name": "search",
        "aliases": ["web_search"],
        "description": "Search the web, and return where each answer is from.",
        "lifecycle": "available",
        "tool_kind": "web_search",
        "input_contract": {
            "model_input_schema": {"type": "object", "properties": {"query": {"type": "string"}}},
            "sensitive_fields": ["api_user"],
        },
        "external_mappings": [{"source": "mcp", "server_id": "docs", "method": "tools/call"}],
    },
    "ToolInterface": {
        **VERSION,
        "interface_id": "interface_search",
        "tool_id": "tool_search",
        "is_read_only": True,
        "is_concurrency_safe": "same_as:is_read_only",
        "max_inline_chars": 30000,
    },
    "ExecutionProfile": {
        **VERSION,
        "execution_profile_id": "profile_remote",
        "execution_kind": "remote",
        "supports_cancel": True,
    },
    "PermissionProfile": {
        **VERSION,
        "permission_profile_id": "permissions_search",
        "risk_level": "low",
        "access_kinds": ["network"],
        "redaction_required": False,
    },
    "DeferredTool": {
        **VERSION,
        "tool_id": "mcp.issues",
        "name": "issues",
        "loading_state": "discoverable",
        "native_ref": {"server_name": "tracker"},
    },
    "ToolSurface": {
        **VERSION,
        "surface_id": "surface_1",
        "scope": "turn",
        "loaded_tools": ["tool_search"],
        "deferred_tools": [{"tool_id": "mcp.issues", "loading_state": "discoverable"}],
        "blocked_tools": [{"tool_id": "tool_shell", "reason": "policy_blocked"}],
        "excluded_tools": [{"tool_id": "tool_mail", "reason": "credential_missing"}],
    },
    "SchedulerPolicy": {
        **VERSION,
        "scheduler_policy_id": "batch_1",
        "max_parallel": 4,
        "sibling_failure_policy": "cancel_siblings",
    },
    "Invocation": invocation(
        native_call_id="call_1",
        status="succeeded",
        model_input={"query": "the weather"},
        call_input_ref="store:input/1",
        status_transitions=[{"status": "running", "at": "2026-11-23T10:00:01Z"}],
    ),
    "PermissionDecision": {
        **VERSION,
        "decision_id": "decision_1",
        "invocation_id": "inv_1",
        "behavior": "deny",
        "source": "project_settings",
        "reason": {"type": "rule", "rule_ref": "rule_1", "message": "Not here."},
        "decided_at": "2026-11-23T10:00:01Z",
    },
    "Hook": {
        **VERSION,
        "hook_id": "hook_1",
        "hook_event": "pre_tool_use",
        "invocation_id": "inv_1",
        "updated_input": {"query": "the weather in Rome"},
    },
    "InputMutation": {
        **VERSION,
        "mutation_id": "mutation_1",
        "invocation_id": "inv_1",
        "source_type": "hook",
        "source_ref": "hook_1",
        "changed_fields": ["query"],
        "created_at": "2026-11-23T10:00:01Z",
    },
    "Progress": {
        **VERSION,
        "progress_id": "progress_1",
        "invocation_id": "inv_1",
        "sequence": 1,
        "status": "running",
        "percent": 50,
        "timestamp": "2026-11-23T10:00:02Z",
    },
    "Result": {
        **VERSION,
        "result_id": "result_1",
        "invocation_id": "inv_1",
        "status": "failed",
        "is_error": True,
        "error": {"error_class": "timeout", "recoverability": "retry", "retry_after": None},
        "created_at": "2026-11-23T10:00:03Z",
    },
    "ResultPersistence": {
        **VERSION,
        "decision_id": "persistence_1",
        "invocation_id": "inv_1",
        "strategy": "preview_and_persist",
        "original_size_bytes": 481_204,
        "persisted_ref": {"uri": "store:result/1", "digest": "sha256:abc"},
        "created_at": "2026-11-23T10:00:03Z",
    },
    "Event": {
        **VERSION,
        "event_id": "event_1",
        "event_type": "tool.invocation.started",
        "source": "runtime",
        "time": "2026-11-23T10:00:01Z",
        "invocation_id": "inv_1",
        "data": {"attempt": 1},
    },
}

PARTIAL: list[tuple[str, Object]] = [
    ("ToolDeclaration", {"tool_id": "t", "namespace": "n", "name": "read", "tool_kind": "custom"}),
    ("Invocation", {"invocation_id": "i", "tool_id": "t", "scheduler": {"is_read_only": True}}),
]
"""Less than the specification requires, as some of its published examples are."""


def generated(cls: type[Versioned]) -> st.SearchStrategy[Object]:
    """Return a strategy of objects of a type: known members of any value, and unknown ones."""
    names = {field.name: _of(field) for field in fields_of(cls)}
    required = {field.name: names.pop(field.name) for field in fields_of(cls) if field.required}
    mine = st.fixed_dictionaries(required, optional=names)
    unknown = st.dictionaries(
        st.sampled_from(["x", "ü", "extra", "-", "some_ref"]), values, max_size=2
    )
    return st.tuples(unknown, mine).map(lambda drawn: {**drawn[0], **drawn[1]})


def of(cls: type[Document]) -> st.SearchStrategy[Object]:
    """Return a strategy of the objects inside others."""
    fixed_dictionaries = st.fixed_dictionaries(
        {}, optional={field.name: _of(field) for field in fields_of(cls)}
    )
    return st.tuples(objects, fixed_dictionaries).map(lambda drawn: {**drawn[0], **drawn[1]})


def _of(field: Field) -> st.SearchStrategy[Any]:
    inner = objects if field.document is None else of(field.document)
    kinds: dict[str, st.SearchStrategy[Any]] = {
        "any": values,
        "string": st.sampled_from(field.examples or ["a", ""]) | st.text(max_size=6),
        "number": numbers,
        "boolean": st.booleans(),
        "object": objects,
        "array of strings": st.lists(st.text(max_size=6), max_size=3),
        "document": inner,
        "documents": st.lists(inner, max_size=2),
    }
    return kinds[field.kind] | st.none() if field.nullable else kinds[field.kind]
