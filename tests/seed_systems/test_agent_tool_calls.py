"""Checks of what Agent Tool tells of calls: 21 to 45."""

from __future__ import annotations

import json
from typing import Any

import pytest
from opentelemetry import trace

from agentool_otel.model.agent_tool import words
from agentool_otel.model.agent_tool.checking import findings
from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, exported, objects, told

CANARY = "canary-9f3b27"
TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
ABOUT_NO_CALL = ("tool.declared", "tool.surface", "tool.deferred")


@pytest.mark.parametrize("name", words.EVENT_TYPES)
def test_check_21_each_event_class_is_exported_under_its_name(name: str, spans: Any) -> None:
    call = Call()
    if name.startswith(ABOUT_NO_CALL):
        event = {**EXAMPLES["Event"], "event_type": name}
        del event["invocation_id"]
        call.emitter.record(event)
    else:
        call.event(name, 1)
    call.emitter.flush()
    [span] = spans.finished()
    assert [it.name for it in span.events] == [name]
    [held] = [it for it in objects(spans) if it.get("event_type") == name]
    assert findings(held) == []


def test_check_21_an_event_class_of_tomorrow_is_exported_too(spans: Any) -> None:
    call = Call()
    call.event("tool.invocation.dreamt", 1, of="sheep")
    call.emitter.flush()
    assert [it.name for it in call_span(spans).events] == ["tool.invocation.dreamt"]


@pytest.mark.parametrize("error_class", [*words.ERROR_CLASSES, "of_tomorrow"])
def test_check_22_error_classes_are_error_types(error_class: str, spans: Any) -> None:
    Call().done("failed", status="failed", error={"error_class": error_class, "error_code": "E7"})
    span = call_span(spans)
    assert span.attributes["error.type"] == error_class
    assert span.attributes["agenttool.error.code"] == "E7"
    assert span.status.status_code is trace.StatusCode.ERROR


@pytest.mark.parametrize("state", [*words.STATES, "of_tomorrow"])
def test_check_23_every_state_is_told_apart(state: str, spans: Any) -> None:
    call = Call()
    call.invocation(status=state)
    call.emitter.flush()
    assert call_span(spans).attributes["agenttool.invocation.status"] == state


def test_check_23_transitions_keep_their_order_and_times(spans: Any) -> None:
    told_of = [{"status": state, "at": at(n)} for n, state in enumerate(words.STATES)]
    call = Call()
    call.invocation(status="blocked", status_transitions=told_of)
    call.emitter.flush()
    span = call_span(spans)
    states = [it.attributes["agenttool.invocation.status"] for it in span.events]
    assert states == list(words.STATES)
    assert [it.timestamp % 60_000_000_000 // 1_000_000_000 for it in span.events] == [*range(20)]
    [invocation] = objects(spans)
    assert invocation["status_transitions"] == told_of


_OUTCOMES = {
    "succeeded": None,
    "partial_succeeded": None,
    "redacted": None,
    "denied": "permission_denied",
    "rejected": "approval_rejected",
    "canceled": "canceled",
    "timed_out": "timeout",
    "too_large": "result_too_large",
    "discarded": "streaming_fallback_discarded",
    "failed": "execution_failed",
    "synthetic_error": "execution_failed",
}


@pytest.mark.parametrize("status", words.RESULT_STATUSES)
def test_check_24_every_result_status_ends_the_span(status: str, spans: Any) -> None:
    call = Call()
    call.invocation(status="canceled")
    call.result(status=status)
    span = call_span(spans)
    assert span.attributes["agenttool.result.status"] == status
    assert span.attributes.get("error.type") == _OUTCOMES[status]


def test_check_25_the_four_inputs_stay_four_values(spans: Any) -> None:
    inputs = {f"{it}_input": {"q": it} for it in ("model", "observable", "permission", "call")}
    call = Call()
    call.invocation(**inputs)
    call.emitter.record({**EXAMPLES["InputMutation"], "source_type": "permission_prompt"})
    call.done()
    span = call_span(spans)
    for name, value in inputs.items():
        written = span.attributes[f"agenttool.input.{name.removesuffix('_input')}"]
        assert json.loads(written) == value
    assert json.loads(span.attributes["gen_ai.tool.call.arguments"]) == {"q": "call"}
    assert span.attributes["agenttool.input.mutated"] is True
    assert list(span.attributes["agenttool.input.mutated_by"]) == ["permission_prompt"]
    [invocation, *_] = objects(spans)
    assert {name: invocation[name] for name in inputs} == inputs


def test_check_25_equal_inputs_are_no_mutation(spans: Any) -> None:
    call = Call()
    call.invocation(model_input={"a": 1, "b": 2}, call_input={"b": 2, "a": 1})
    call.done()
    assert "agenttool.input.mutated" not in call_span(spans).attributes


def test_check_26_references_are_exported_without_the_inputs(spans: Any) -> None:
    spans.without_content()
    inputs = ("model", "observable", "permission", "call")
    references = {f"{it}_input_ref": f"store:{it}" for it in inputs}
    call = Call()
    call.invocation(**references, model_input=CANARY)
    call.done()
    [invocation, _] = objects(spans)
    assert invocation.items() >= references.items()
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize("behavior", words.BEHAVIORS)
def test_check_27_a_decision_is_a_span_event_with_its_reason(behavior: str, spans: Any) -> None:
    call = Call()
    call.invocation()
    reason = {"type": "rule", "rule_ref": "rule_1", "message": "Because."}
    call.decision(behavior, 1, mode="default", source="project_settings", reason=reason)
    call.done("denied" if behavior == "deny" else "succeeded", status="succeeded")
    decision = told(call_span(spans), "tool.permission.decided")
    assert decision["agenttool.permission.behavior"] == behavior
    assert decision["agenttool.permission.source"] == "project_settings"
    assert decision["agenttool.permission.reason"] == "rule"


@pytest.mark.parametrize("source", words.RULE_SOURCES)
@pytest.mark.parametrize("kind", words.REASON_TYPES)
def test_check_27_reasons_and_sources_need_no_permission(
    source: str, kind: str, spans: Any
) -> None:
    spans.without_content()
    call = Call()
    call.decision("allow", 1, source=source, reason={"type": kind, "message": CANARY})
    call.emitter.flush()
    decision = told(call_span(spans), "tool.permission.decided")
    assert decision["agenttool.permission.reason"] == kind
    assert decision["agenttool.permission.source"] == source
    assert CANARY.encode() not in exported(spans)


def test_check_27_a_denial_ends_the_span_as_an_error(spans: Any) -> None:
    call = Call()
    call.invocation(model_input={})
    call.decision("deny", 1)
    call.result(status="denied", is_error=True)
    span = call_span(spans)
    assert span.attributes["error.type"] == "permission_denied"
    assert span.end_time - span.start_time == 1_000_000_000


def test_check_28_telemetry_refs_are_those_of_the_exported_span(spans: Any) -> None:
    call = Call()
    call.invocation(native_call_id="call_7", request_id="request_9", created_at=at(0))
    invocation = call.invocation(status="succeeded", started_at=at(1), ended_at=at(2.5))
    result = call.result(structured_content={"sky": "blue"})
    span = call_span(spans)
    [reference] = result["telemetry_refs"]
    assert reference == {
        "trace_id": f"{span.context.trace_id:032x}",
        "span_id": f"{span.context.span_id:016x}",
        "tool_name": "tool_search",
        "tool_call_id": "call_7",
        "request_id": "request_9",
        "duration_ms": 1500.0,
        "result_size_bytes": len('{"sky":"blue"}'),
    }
    assert invocation["telemetry_refs"][0]["span_id"] == reference["span_id"]
    event = call.event("tool.result.created", 4)
    assert event["trace_refs"] == [reference]


def test_check_28_nothing_is_referred_to_where_nothing_is_recorded() -> None:
    call = Call()
    given = EXAMPLES["Invocation"]
    assert call.emitter.record(given) == given


def test_check_29_incoming_references_are_links_and_stay_as_they_are(spans: Any) -> None:
    incoming = [{"trace_id": TRACE, "span_id": SPAN}, {"trace_id": "0" * 32, "span_id": SPAN}]
    call = Call()
    call.invocation(telemetry_refs=incoming)
    call.emitter.record({**EXAMPLES["Event"], "trace_refs": [{**incoming[0], "x": 1}]})
    call.done()
    [link] = call_span(spans).links
    ids = f"{link.context.trace_id:032x}", f"{link.context.span_id:016x}"
    assert ids == (TRACE, SPAN)
    found = objects(spans)
    assert found[0]["telemetry_refs"] == incoming
    assert found[1]["trace_refs"] == [{**incoming[0], "x": 1}]


@pytest.mark.parametrize("state", ["redacted", "partially_redacted", "pii_removed"])
def test_check_30_a_redacted_payload_is_in_no_byte(state: str, spans: Any) -> None:
    call = Call()
    call.progress(1, 1, message=f"found {CANARY}")
    call.event("tool.invocation.partial_result", 1, text=CANARY)
    call.event("tool.hook.post.completed", 2, hook={"hook_id": "h", "hook_event": "post_tool_use",
                                                  "updated_output": CANARY})  # fmt: skip
    call.done(
        redaction_state=state,
        content=[{"type": "text", "text": CANARY}],
        structured_content={CANARY: CANARY},
        model_facing_content=[{"type": "text", "text": CANARY}],
        ui_facing_summary=CANARY,
        summary=CANARY,
        error={"error_class": "result_redacted", "message": CANARY},
    )
    span = call_span(spans)
    assert CANARY.encode() not in exported(spans)
    assert span.attributes["agenttool.result.redaction_state"] == state
    assert span.attributes["agenttool.withheld"] == state
    assert span.attributes["agenttool.result.payload"] == "withheld"


def test_check_30_what_is_redacted_after_its_result_is_in_no_byte(spans: Any) -> None:
    call = Call()
    call.invocation(status="succeeded", ended_at=at(2))
    call.emitter.record({**EXAMPLES["Result"], "structured_content": CANARY, "status": "succeeded"})
    assert not spans.finished()
    call.event("tool.result.redacted", 4)
    assert call_span(spans).attributes["agenttool.withheld"] == "redacted"
    assert CANARY.encode() not in exported(spans)


def test_check_30_a_payload_is_not_repeated_in_the_arguments(spans: Any) -> None:
    call = Call()
    call.invocation(model_input={"again": f"is it {CANARY}?"})
    call.done(redaction_state="redacted", structured_content={"key": CANARY})
    assert CANARY.encode() not in exported(spans)


def test_check_30_a_tool_whose_data_is_to_be_redacted_keeps_it_all(spans: Any) -> None:
    call = Call()
    profile = {**EXAMPLES["PermissionProfile"], "redaction_required": True}
    call.emitter.record(profile)
    declared = {**EXAMPLES["ToolDeclaration"]}
    call.emitter.record({**declared, "permission_profile_ref": profile["permission_profile_id"]})
    call.invocation(model_input={"name": CANARY})
    call.decision("allow", 1, updated_input={"name": CANARY})
    call.done(structured_content=CANARY)
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize("path", ["pin", "user.pin", "$.user.pin", "/user/pin", "users[*].pin"])
def test_check_31_sensitive_fields_are_in_no_byte(path: str, spans: Any) -> None:
    call = Call()
    contract = {"sensitive_fields": [path]}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    given = {"user": {"pin": CANARY}, "city": "Rome"}
    call.invocation(
        model_input=given,
        observable_input=given,
        permission_input=[given],
        call_input={"nested": [{"pin": [CANARY, 1234567]}], "city": "Rome"},
        call_input_ref=f"store:{CANARY}",
    )
    call.event("tool.hook.pre.completed", 1, message=f"with {CANARY} and 1234567")
    call.decision("allow", 1, updated_input=given, accept_feedback=f"{CANARY}, yes")
    call.progress(1, 1, message=f"looking for {CANARY}")
    call.done("failed", error={"error_class": "timeout", "message": f"no {CANARY}"},
              content=[{"type": "text", "text": f"nothing for {CANARY} 1234567"}])  # fmt: skip
    assert CANARY.encode() not in exported(spans)
    assert b"1234567" not in exported(spans)
    arguments = json.loads(call_span(spans).attributes["gen_ai.tool.call.arguments"])
    assert arguments == {"nested": [{"pin": "[redacted]"}], "city": "Rome"}


def test_check_31_a_tool_that_is_declared_late_is_believed(spans: Any) -> None:
    call = Call()
    call.invocation(model_input={"pin": CANARY})
    contract = {"sensitive_fields": ["pin"]}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    call.done()
    assert CANARY.encode() not in exported(spans)


def test_check_32_no_content_leaves_without_permission(spans: Any) -> None:
    spans.without_content()
    call = Call()
    for name in ("ToolDeclaration", "ToolSurface", "ToolInterface"):
        call.emitter.record({**EXAMPLES[name], "title": CANARY, "unknown": {"a": CANARY}})
    call.invocation(model_input=CANARY, call_input={"a": CANARY}, unknown=CANARY)
    call.event("tool.invocation.started", 1, note=CANARY, nested={"text": CANARY})
    call.decision("allow", 1, accept_feedback=CANARY, updated_input=CANARY)
    call.emitter.record({**EXAMPLES["Hook"], "outputs": [{"type": "message", "text": CANARY}]})
    call.progress(1, 1, message=CANARY, current_step=CANARY)
    call.persistence("inline", reason=CANARY)
    call.done("failed", content=[{"type": "text", "text": CANARY}], summary=CANARY,
              error={"error_class": "timeout", "message": CANARY})  # fmt: skip
    assert CANARY.encode() not in exported(spans)
    span = call_span(spans)
    assert span.attributes["error.type"] == "timeout"
    assert {it.name for it in span.events} >= {"tool.permission.decided", "tool.result.persisted"}


@pytest.mark.parametrize("strategy", words.PERSISTENCE_STRATEGIES)
def test_check_33_persistence_keeps_strategy_sizes_and_references(
    strategy: str, spans: Any
) -> None:
    spans.without_content()
    kept: dict[str, Any] = {
        "original_size_bytes": 481_204,
        "preview_size_bytes": 2048,
        "persisted_ref": {"uri": "store:1", "media_type": "text/plain", "digest": "sha256:a"},
    }
    call = Call()
    call.persistence(strategy, **kept)
    call.done(persistence_refs=["persistence_1"])
    span = call_span(spans)
    event = told(span, "tool.result.persisted")
    assert event["agenttool.persistence.strategy"] == strategy
    assert span.attributes["agenttool.result.size_bytes"] == 481_204
    found = {it.get("strategy"): it for it in objects(spans)}
    assert found[strategy].items() >= kept.items()
    assert found[None].get("persistence_refs", ["persistence_1"]) == ["persistence_1"]


@pytest.mark.parametrize("strategy", ["ref_only", "redact", "drop_with_reason", "never_persist"])
def test_check_33_what_is_not_to_be_kept_is_not_kept_here(strategy: str, spans: Any) -> None:
    call = Call()
    call.persistence(strategy)
    call.done(structured_content=CANARY)
    assert CANARY.encode() not in exported(spans)
    assert call_span(spans).attributes["agenttool.withheld"] == strategy


def test_check_34_without_a_payload_there_are_id_status_and_references(spans: Any) -> None:
    spans.without_content()
    references = {
        "resource_refs": [{"uri": "docs:1"}],
        "artifact_refs": [{"artifact_id": "a"}],
        "evidence_refs": ["evidence_1"],
        "policy_refs": ["policy_1"],
    }
    Call().done("failed", status="redacted", **references)
    [invocation, result] = objects(spans)
    assert invocation["invocation_id"] == "inv_1"
    assert (invocation["status"], result["status"]) == ("failed", "redacted")
    assert result.items() >= references.items()


@pytest.mark.parametrize(
    ("payload", "word"),
    [
        ({}, "missing"),
        ({"content": []}, "empty"),
        ({"structured_content": None}, "empty"),
        ({"structured_content": 0}, "present"),
    ],
)
def test_check_35_an_empty_output_is_not_a_missing_one(
    payload: dict[str, Any], word: str, spans: Any
) -> None:
    Call().done(**payload)
    attributes = call_span(spans).attributes
    assert attributes["agenttool.result.payload"] == word
    assert ("gen_ai.tool.call.result" in attributes) is bool(payload)


def test_check_36_progress_is_in_the_order_of_its_sequence(spans: Any) -> None:
    call = Call()
    for sequence, seconds in [(2, 1), (1, 1), (4, 3), (3, 2)]:
        call.progress(sequence, seconds)
    call.done()
    events = [it.attributes for it in call_span(spans).events]
    assert [it["agenttool.progress.sequence"] for it in events] == [1, 2, 3, 4]


def test_check_36_progress_above_the_sdks_limit_is_counted(spans: Any) -> None:
    call = Call()
    for sequence in range(1000):
        call.progress(sequence, sequence / 100)
    call.event("tool.invocation.started", 0)
    call.done()
    span = call_span(spans)
    shown = [it for it in span.events if it.name == "tool.invocation.progress"]
    assert span.dropped_events == 0
    assert span.attributes["agenttool.progress.count"] == 1000
    assert span.attributes["agenttool.progress.dropped"] == 1000 - len(shown)
    assert shown[-1].attributes["agenttool.progress.sequence"] == 999
    assert "tool.invocation.started" in {it.name for it in span.events}


def test_check_36_other_events_above_the_limit_are_counted(spans: Any) -> None:
    call = Call()
    for n in range(300):
        call.event("tool.hook.pre.started", n / 100)
    call.done()
    span = call_span(spans)
    assert span.dropped_events == 0
    assert span.attributes["agenttool.events.dropped"] == 300 - len(span.events)


def test_check_37_the_facts_of_a_cancellation_are_kept(spans: Any) -> None:
    spans.without_content()
    call = Call()
    facts = {"cancel_requested_at": at(1), "cancel_acknowledged_at": at(2),
             "abort_reason": "user_interruption"}  # fmt: skip
    call.event("tool.invocation.canceled", 3, cancellation=facts)
    call.result(status="canceled")
    span = call_span(spans)
    assert span.attributes["error.type"] == "canceled"
    assert objects(spans)[0]["data"]["cancellation"] == facts


@pytest.mark.parametrize(
    ("status", "error_class"),
    [("synthetic_error", "sibling_canceled"), ("discarded", "streaming_fallback_discarded")],
)
def test_check_38_a_cancelled_siblings_result_leads_to_its_batch(
    status: str, error_class: str, spans: Any
) -> None:
    spans.without_content()
    call = Call()
    call.invocation(scheduler_policy_ref="batch_1", batch_id="turn_3", runtime_refs=["run_1"])
    error = {"error_class": error_class, "caused_by_invocation_id": "inv_0"}
    call.done("canceled", status=status, abort_reason="sibling_error", error=error)
    [invocation, result] = objects(spans)
    assert invocation["scheduler_policy_ref"] == "batch_1"
    assert invocation["batch_id"] == "turn_3"
    assert result["abort_reason"] == "sibling_error"
    assert result["error"]["caused_by_invocation_id"] == "inv_0"
    assert call_span(spans).attributes["error.type"] == error_class


def test_check_39_an_approval_pauses_one_span_and_shows_the_wait(spans: Any) -> None:
    call = Call()
    call.invocation()
    call.event("tool.permission.requested", 1)
    call.decision("ask", 1.5)
    call.decision("allow", 31.5)
    call.event("tool.permission.decided", 31.5)
    call.event("tool.invocation.queued", 32)
    call.event("tool.invocation.started", 33)
    call.event("tool.invocation.succeeded", 35)
    call.result(36)
    attributes = call_span(spans).attributes
    assert attributes["agenttool.approval_ms"] == 30_500
    assert attributes["agenttool.queue_ms"] == 1_000
    assert attributes["agenttool.run_ms"] == 2_000


@pytest.mark.parametrize(
    "mapping",
    [
        {"source": "mcp", "server_id": "s", "mcp_session_id": "m", "method": "tools/call",
         "mcp_protocol_version": "2025-06-18", "tool_name": "t", "jsonrpc_request_id": 7,
         "isError": False},
        {"source": "openapi", "operation_id": "o", "method": "GET", "security_scheme_refs": ["k"]},
        {"source": "function", "tool_call_id": "c", "function_name": "f", "strict": True,
         "tool_choice": "auto", "parallel_tool_calls": True, "defer_loading": False},
        {"source": "a2a", "agent_card_url": "https://a", "agent_skill_id": "s", "task_id": "t",
         "context_id": "c", "message_id": "m", "artifact_id": "a"},
        {"source": "cli", "command_id": "c", "argv_ref": "r", "cwd_ref": "w", "exit_code": 1,
         "signal": "TERM", "sandbox_ref": "x", "env_policy_ref": "e"},
        {"source": "browser", "browser_session_id": "b", "page_id": "p", "action_id": "a",
         "observation_ref": "o", "screenshot_ref": "s"},
        {"source": "telemetry", "trace_id": TRACE, "span_id": SPAN, "request_id": "r",
         "duration_ms": 7, "result_size_bytes": 9},
    ],
    ids=lambda it: str(it["source"]),
)  # fmt: skip
def test_check_40_native_ids_are_kept(mapping: dict[str, Any], spans: Any) -> None:
    spans.without_content()
    call = Call()
    call.invocation(external_mappings=[mapping])
    call.done()
    assert objects(spans)[0]["external_mappings"] == [mapping]
    attributes = call_span(spans).attributes
    if mapping["source"] == "mcp":
        assert attributes["mcp.session.id"] == "m"
        assert attributes["mcp.protocol.version"] == "2025-06-18"
        assert attributes["jsonrpc.request.id"] == "7"


def test_check_41_kinds_are_on_the_span(spans: Any) -> None:
    call = Call()
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "tool_kind": "retrieval"})
    call.done()
    attributes = call_span(spans).attributes
    assert attributes["agenttool.tool.kind"] == "retrieval"
    assert attributes["gen_ai.tool.type"] == "datastore"
    assert attributes["gen_ai.tool.name"] == "search"


@pytest.mark.parametrize("content", [True, False])
def test_check_42_a_surface_has_its_tools_with_reasons(content: bool, spans: Any) -> None:
    if not content:
        spans.without_content()
    surface = EXAMPLES["ToolSurface"]
    Call().emitter.record(surface)
    [span] = spans.finished()
    assert (span.name, span.events[0].name) == ("tool.surface.created", "tool.surface.created")
    assert objects(spans) == [surface]


def test_check_42_a_surface_is_told_of_on_the_span_around(spans: Any) -> None:
    import agentool_otel

    with agentool_otel.run("planner"):
        Call().emitter.record(EXAMPLES["ToolSurface"])
    [span] = spans.finished()
    assert [it.name for it in span.events] == ["tool.surface.created"]


def test_check_43_what_is_written_back_is_valid(spans: Any) -> None:
    call = Call()
    for name, example in EXAMPLES.items():
        written = call.emitter.record(example)
        assert findings(written) == [], name
    call.emitter.flush()
    assert all(findings(it) == [] for it in objects(spans))


@pytest.mark.parametrize("version", ["0.1.1", "7.0"])
def test_check_44_another_version_comes_back_with_unknown_members(version: str, spans: Any) -> None:
    other = {"schema_version": version, "of_tomorrow": {"a": [None]}}
    Call().done(**other)
    assert objects(spans)[-1].items() >= other.items()


def test_check_45_queue_and_run_can_be_told_apart(spans: Any) -> None:
    call = Call()
    call.invocation(status="succeeded", started_at=at(4), ended_at=at(9))
    call.result(10)
    span = call_span(spans)
    assert span.attributes["agenttool.queue_ms"] == 4_000
    assert span.attributes["agenttool.run_ms"] == 5_000
    assert span.end_time - span.start_time == 9_000_000_000
