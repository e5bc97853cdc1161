"""The emitter of Agent Tool as a guest in a program."""

from __future__ import annotations

import json
from typing import Any

import pytest

import agentool_otel
from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, exported, objects


def test_what_is_no_object_is_named_once_and_costs_nothing(
    spans: Any, caplog: pytest.LogCaptureFixture
) -> None:
    emitter = Call().emitter
    for odd in ({"colour": "green"}, {}):
        assert emitter.record(odd) == odd
    assert caplog.text.count("no object of Agent Tool: colour") == 1
    assert not spans.finished()


def test_values_that_json_has_no_form_for_cost_no_span(spans: Any) -> None:
    call = Call()
    call.invocation(model_input={"when": object(), 7: {1, 2}})
    call.done()
    assert call_span(spans).attributes["agenttool.invocation.id"] == "inv_1"


def test_what_is_changed_after_it_was_told_is_not_changed_on_the_span(spans: Any) -> None:
    given = {"query": "first"}
    call = Call()
    call.invocation(model_input=given)
    given["query"] = "second"
    call.done()
    assert json.loads(call_span(spans).attributes["agenttool.input.model"]) == {"query": "first"}


def test_a_fault_of_ours_is_not_the_programs(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentool_otel.emit.session import session
    from agentool_otel.event_streams.agent_tool.translator import AgentToolEvents

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(session, "strict", False)
    for name in ("read", "close"):
        monkeypatch.setattr(AgentToolEvents, name, broken)
    call = Call()
    assert call.emitter.record(EXAMPLES["Result"]) == EXAMPLES["Result"]
    call.emitter.flush()


def test_spans_inside_an_invocation_lie_below_its_own(spans: Any) -> None:
    call = Call()
    call.invocation(status="running", started_at=at(1))
    with call.emitter.within(call.id), agentool_otel.run("inner"):
        pass
    with call.emitter.within("of nobody"):
        pass
    call.done()
    inner = next(it for it in spans.finished() if not it.name.startswith("execute_tool"))
    assert inner.parent.span_id == call_span(spans).context.span_id


def test_invocations_of_many_threads_are_told_apart(spans: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    emitter = Call().emitter

    def work(n: int) -> None:
        call = Call(emitter, f"inv_{n}")
        call.invocation(model_input={"n": n})
        call.progress(1, 1)
        call.done(structured_content=n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(64)))
    results = {it.attributes["agenttool.invocation.id"]: it for it in spans.finished()}
    assert len(results) == 64
    assert all(
        json.loads(it.attributes["agenttool.input.model"]) == {"n": int(name[4:])}
        for name, it in results.items()
    )


CANARY = "canary-9f3b27"


def test_what_comes_after_the_end_is_told_by_its_facts_below_the_span(spans: Any) -> None:
    call = Call()
    contract = {"sensitive_fields": ["pin"]}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    call.invocation(model_input={"pin": CANARY})
    call.done()
    call.progress(1, 9, message="of no use", task_id=f"task of {CANARY}")
    late = spans.finished()[-1]
    assert late.name == "tool.invocation.progress"
    assert late.parent.span_id == call_span(spans).context.span_id
    assert b"of no use" not in exported(spans)
    assert CANARY.encode() not in exported(spans)


def test_inputs_that_were_replaced_are_sensitive_still(spans: Any) -> None:
    call = Call()
    contract = {"sensitive_fields": ["pin"]}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    call.invocation(call_input={"pin": CANARY})
    call.invocation(call_input={"pin": "another"})
    call.done(summary=f"not {CANARY}", error={"error_class": CANARY, "error_code": CANARY})
    assert CANARY.encode() not in exported(spans)


def test_more_secrets_than_can_be_looked_for_let_no_content_out(spans: Any) -> None:
    call = Call()
    rows = [f"a row of the payload, number {n}" for n in range(5_000)]
    call.invocation(model_input={"again": rows[-1]})
    call.done(redaction_state="redacted", structured_content=rows)
    assert b"a row of the payload" not in exported(spans)


def test_sensitive_fields_of_arguments_that_are_json_text_are_taken_out(spans: Any) -> None:
    call = Call()
    contract = {"sensitive_fields": ["pin"]}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    call.invocation(model_input=json.dumps({"pin": [CANARY, 7], "city": "Rome"}))
    call.done(summary=f"not for {CANARY}")
    assert CANARY.encode() not in exported(spans)
    arguments = json.loads(call_span(spans).attributes["agenttool.input.model"])
    assert json.loads(arguments) == {"pin": "[redacted]", "city": "Rome"}


def test_the_schema_of_a_sensitive_field_is_not_its_value(spans: Any) -> None:
    schema = {"type": "object", "properties": {"pin": {"type": "string"}}}
    contract = {"sensitive_fields": ["pin"], "model_input_schema": schema}
    declaration = {**EXAMPLES["ToolDeclaration"], "input_contract": contract}
    call = Call()
    call.emitter.record(declaration)
    call.event("tool.invocation.selected", 1, tool=declaration)
    call.done(summary="a string")
    declared, _, event, result = objects(spans)
    assert declared == declaration
    assert event["data"]["tool"] == declaration
    assert result["summary"] == "a string"


@pytest.mark.parametrize("told", [None, 3, "text", [1, 2]])
def test_what_is_no_object_at_all_is_given_back(told: Any, spans: Any) -> None:
    assert Call().emitter.record(told) is told
    assert not spans.finished()
