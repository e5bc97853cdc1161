"""Data of Agent Tool's calls that is withheld, in every kind of object."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, exported, objects

CANARY = "canary-9f3b27"


def declaring(*fields: Any, **members: Any) -> Call:
    """Return a call of a tool that names sensitive fields."""
    call = Call()
    contract = {"sensitive_fields": list(fields)}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract, **members})
    return call


@pytest.mark.parametrize("field", ["status", "content", "message", "state", "name", "source"])
def test_a_sensitive_field_is_not_the_objects_own_member_of_that_name(
    field: str, spans: Any
) -> None:
    call = declaring(field)
    call.invocation(model_input={field: CANARY}, status_transitions=[{"to": "queued", "at": at(0)}])
    call.event("tool.invocation.started", 1, arguments={field: CANARY})
    error = {"error_class": "timeout", "message": f"too late for {CANARY}"}
    call.done("failed", status="failed", content=[{"type": "text"}], error=error)
    span = call_span(spans)
    assert CANARY.encode() not in exported(spans)
    assert span.attributes["agenttool.invocation.status"] == "failed"
    assert span.attributes["error.type"] == "timeout"
    result = objects(spans)[-1]
    assert result["content"] == [{"type": "text"}]
    assert result["error"]["message"] == "too late for [redacted]"


@pytest.mark.parametrize("value", ["tool", "state", "invocation", "status", "failed"])
def test_sensitive_values_do_not_mask_names_of_the_specification(value: str, spans: Any) -> None:
    call = declaring("pin")
    transitions = [{"to": "running", "at": at(1)}]
    call.invocation(model_input={"pin": value}, status_transitions=transitions)
    call.done("failed", status="failed", summary=f"no {value}")
    span = call_span(spans)
    assert span.attributes["agenttool.invocation.status"] == "failed"
    assert span.attributes["error.type"] == "execution_failed"
    assert objects(spans)[-1]["summary"] == "no [redacted]"


@pytest.mark.parametrize(
    "path",
    ["$['user']['pin']", "user.pin[0]", "pin[]", "$..pin", "/user/pin/0", "pin.*", "user[0].pin"],
)
def test_a_path_may_be_in_any_notation(path: str, spans: Any) -> None:
    call = declaring(path)
    call.invocation(model_input={"user": {"pin": [CANARY]}, "pin": CANARY})
    call.done()
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize("fields", ["pin", [{"path": "user.pin"}], {"pin": "why"}])
def test_sensitive_fields_may_be_declared_in_another_shape(fields: Any, spans: Any) -> None:
    call = Call()
    contract = {"sensitive_fields": fields}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    call.invocation(model_input={"user": {"pin": CANARY}})
    call.done()
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize(
    "quote", [json.dumps, repr, lambda item: json.dumps(item, ensure_ascii=False)]
)
def test_a_sensitive_value_is_found_where_it_is_quoted(quote: Any, spans: Any) -> None:
    secret = f'first "line"\n{CANARY} é'
    call = declaring("pin")
    call.invocation(model_input={"pin": secret})
    call.done("failed", error={"message": f"called with {quote(secret)}"})
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize("kind", ["ToolDeclaration", "ToolInterface"])
def test_sensitive_fields_may_be_declared_in_an_event(kind: str, spans: Any) -> None:
    call = Call()
    tool = {**EXAMPLES[kind], "input_contract": {"sensitive_fields": ["pin"]}}
    call.event("tool.invocation.selected", 0, tool=tool)
    call.invocation(model_input={"pin": CANARY})
    call.done()
    assert CANARY.encode() not in exported(spans)


def test_events_alone_identify_their_tool(spans: Any) -> None:
    call = declaring("pin")
    call.event("tool.invocation.started", 1, arguments={"pin": CANARY})
    call.event("tool.invocation.succeeded", 2, text=f"for {CANARY}")
    call.result()
    assert call_span(spans).name == "execute_tool search"
    assert CANARY.encode() not in exported(spans)


def test_after_a_large_redacted_payload_nothing_is_exported(spans: Any) -> None:
    call = Call()
    call.invocation()
    call.done(redaction_state="redacted", structured_content=CANARY * 10_000)
    call.progress(1, 9, task_id=CANARY)
    assert CANARY.encode() not in exported(spans)
    assert spans.finished()[-1].events[0].attributes["agenttool.object.facts"] == "{}"


def test_persistence_may_refer_to_the_results_id(spans: Any) -> None:
    call = Call()
    call.invocation(status="succeeded", ended_at=at(2))
    call.result(redaction_state=None, structured_content=CANARY)
    call.emitter.record(
        {"decision_id": "p", "result_id": "result_of_inv_1", "strategy": "never_persist"}
    )
    assert call_span(spans).attributes["agenttool.withheld"] == "never_persist"
    assert CANARY.encode() not in exported(spans)


def test_a_redaction_may_be_declared_by_its_subject(spans: Any) -> None:
    call = Call()
    call.invocation(status="succeeded", ended_at=at(2))
    call.result(redaction_state=None, structured_content=CANARY)
    call.emitter.record({"event_type": "tool.result.redacted", "subject": call.id})
    assert call_span(spans).attributes["agenttool.withheld"] == "redacted"
    assert CANARY.encode() not in exported(spans)


def test_a_redacted_tool_keeps_objects_without_a_call(spans: Any) -> None:
    call = declaring(permission_profile={"redaction_required": True})
    call.emitter.record(
        {"hook_id": "h", "hook_event": "pre_tool_use", "tool_id": "tool_search", "outputs": CANARY}
    )
    assert CANARY.encode() not in exported(spans)
    hook = spans.finished()[-1].events[0]
    assert hook.attributes["agenttool.withheld"] == "redaction_required"


def test_tools_that_are_forgotten_keep_their_data(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentool_otel.integrations.agent_tool.events.tools._MOST", 2)
    call = declaring("pin")
    for n in range(2):
        call.emitter.record({"tool_id": f"tool_{n}", "name": "another"})
    call.invocation(model_input={"pin": CANARY})
    call.done()
    assert call_span(spans).attributes["agenttool.withheld"] == "redaction_required"
    assert CANARY.encode() not in exported(spans)


def test_more_replaced_payloads_than_are_kept_let_no_content_out(spans: Any) -> None:
    call = declaring("pin")
    for n in range(200):
        call.invocation(model_input={"pin": f"{CANARY} {n}"})
    call.done(summary=f"{CANARY} 150")
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize(
    "members",
    [
        {"resource_refs": [{"uri": "x:1", "text": CANARY, "name": CANARY}]},
        {"artifact_refs": [{"uri": f"data:text/plain,{CANARY}"}]},
        {"native_ref": f"data:text/plain,{CANARY}"},
        {"result": {"name": CANARY, "customer_id": CANARY}},
    ],
)
def test_without_content_references_keep_only_the_place(members: Any, spans: Any) -> None:
    spans.without_content()
    Call().done(**members)
    assert CANARY.encode() not in exported(spans)


@pytest.mark.parametrize(
    "data",
    [
        {"result": {"name": CANARY, "customer_id": CANARY}},
        {"result": [{"name": CANARY}]},
        {"from": CANARY, "to": CANARY, "name": CANARY},
        {"progress": {"source": CANARY}},
        {"error": CANARY},
    ],
)
def test_without_content_the_data_of_an_event_is_no_fact(data: Any, spans: Any) -> None:
    spans.without_content()
    call = Call()
    call.event("tool.invocation.succeeded", 1, **data)
    call.done()
    assert CANARY.encode() not in exported(spans)


def test_objects_after_the_end_are_marked(spans: Any) -> None:
    call = Call()
    call.done()
    call.event("tool.hook.post.completed", 9, text=CANARY)
    [event] = spans.finished()[-1].events
    assert event.attributes["agenttool.withheld"] == "ended"
    assert CANARY.encode() not in exported(spans)
