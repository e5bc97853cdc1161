"""Inputs and outputs of Agent Tool's calls, and the parts that are exported (checks 25, 26, and 30
to 35).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from agentool_otel.integrations.agent_tool.documents import vocabulary as words
from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, exported, objects, told

CANARY = "canary-9f3b27"


def test_check_25_the_four_inputs_stay_four_values(spans: Any) -> None:
    inputs = {
        f"{name}_input": {"q": name} for name in ("model", "observable", "permission", "call")
    }
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
    references = {f"{input_}_input_ref": f"store:{input_}" for input_ in inputs}
    call = Call()
    call.invocation(**references, model_input=CANARY)
    call.done()
    [invocation, _] = objects(spans)
    assert invocation.items() >= references.items()
    assert CANARY.encode() not in exported(spans)


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


def test_check_30_late_redaction_removes_every_byte(spans: Any) -> None:
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


def test_check_30_a_redacted_tool_exports_no_data(spans: Any) -> None:
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
    values = {"user": {"pin": CANARY}, "city": "Rome"}
    call.invocation(
        model_input=values,
        observable_input=values,
        permission_input=[values],
        call_input={"nested": [{"pin": [CANARY, 1234567]}], "city": "Rome"},
        call_input_ref=f"store:{CANARY}",
    )
    call.event("tool.hook.pre.completed", 1, message=f"with {CANARY} and 1234567")
    call.decision("allow", 1, updated_input=values, accept_feedback=f"{CANARY}, yes")
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
    assert {event.name for event in span.events} >= {
        "tool.permission.decided",
        "tool.result.persisted",
    }


@pytest.mark.parametrize("strategy", words.PERSISTENCE_STRATEGIES)
def test_check_33_persistence_keeps_strategy_sizes_and_references(
    strategy: str, spans: Any
) -> None:
    spans.without_content()
    results: dict[str, Any] = {
        "original_size_bytes": 481_204,
        "preview_size_bytes": 2048,
        "persisted_ref": {"uri": "store:1", "media_type": "text/plain", "digest": "sha256:a"},
    }
    call = Call()
    call.persistence(strategy, **results)
    call.done(persistence_refs=["persistence_1"])
    span = call_span(spans)
    event = told(span, "tool.result.persisted")
    assert event["agenttool.persistence.strategy"] == strategy
    assert span.attributes["agenttool.result.size_bytes"] == 481_204
    matches = {obj.get("strategy"): obj for obj in objects(spans)}
    assert matches[strategy].items() >= results.items()
    assert matches[None].get("persistence_refs", ["persistence_1"]) == ["persistence_1"]


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
