"""Course of Agent Tool's calls: events, states, decisions, progress and times (checks 21 to 24, 27,
36 to 39, and 45).
"""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry import trace

from agentool_otel.integrations.agent_tool.documents import vocabulary as words
from agentool_otel.integrations.agent_tool.documents.checking import findings
from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, exported, objects, told

CANARY = "canary-9f3b27"
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
    assert [event.name for event in span.events] == [name]
    [value] = [obj for obj in objects(spans) if obj.get("event_type") == name]
    assert findings(value) == []


def test_check_21_an_event_class_of_tomorrow_is_exported_too(spans: Any) -> None:
    call = Call()
    call.event("tool.invocation.dreamt", 1, of="sheep")
    call.emitter.flush()
    assert [event.name for event in call_span(spans).events] == ["tool.invocation.dreamt"]


@pytest.mark.parametrize("error_class", [*words.ERROR_CLASSES, "of_tomorrow"])
def test_check_22_error_classes_are_error_types(error_class: str, spans: Any) -> None:
    Call().done("failed", status="failed", error={"error_class": error_class, "error_code": "E7"})
    span = call_span(spans)
    assert span.attributes["error.type"] == error_class
    assert span.attributes["agenttool.error.code"] == "E7"
    assert span.status.status_code is trace.StatusCode.ERROR


@pytest.mark.parametrize("state", [*words.STATES, "of_tomorrow"])
def test_check_23_every_state_is_distinguished(state: str, spans: Any) -> None:
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
    states = [event.attributes["agenttool.invocation.status"] for event in span.events]
    assert states == list(words.STATES)
    assert [event.timestamp % 60_000_000_000 // 1_000_000_000 for event in span.events] == [
        *range(20)
    ]
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


def test_check_36_progress_is_in_the_order_of_its_sequence(spans: Any) -> None:
    call = Call()
    for sequence, seconds in [(2, 1), (1, 1), (4, 3), (3, 2)]:
        call.progress(sequence, seconds)
    call.done()
    events = [event.attributes for event in call_span(spans).events]
    assert [event["agenttool.progress.sequence"] for event in events] == [1, 2, 3, 4]


def test_check_36_progress_above_the_sdks_limit_is_counted(spans: Any) -> None:
    call = Call()
    for sequence in range(1000):
        call.progress(sequence, sequence / 100)
    call.event("tool.invocation.started", 0)
    call.done()
    span = call_span(spans)
    shown = [event for event in span.events if event.name == "tool.invocation.progress"]
    assert span.dropped_events == 0
    assert span.attributes["agenttool.progress.count"] == 1000
    assert span.attributes["agenttool.progress.dropped"] == 1000 - len(shown)
    assert shown[-1].attributes["agenttool.progress.sequence"] == 999
    assert "tool.invocation.started" in {event.name for event in span.events}


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


def test_check_45_queue_and_run_times_are_separate(spans: Any) -> None:
    call = Call()
    call.invocation(status="succeeded", started_at=at(4), ended_at=at(9))
    call.result(10)
    span = call_span(spans)
    assert span.attributes["agenttool.queue_ms"] == 4_000
    assert span.attributes["agenttool.run_ms"] == 5_000
    assert span.end_time - span.start_time == 9_000_000_000
