"""The emitter of Agent Tool as a guest in a program."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import agentool_otel
from agentool_otel.integrations.agent_tool.documents.checking import read
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.spans.settings import settings
from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, exported, objects


def test_what_is_no_object_is_named_once_and_costs_nothing(
    spans: Any, caplog: pytest.LogCaptureFixture
) -> None:
    emitter = Call().emitter
    for odd in ({"colour": "green"}, {}, {"colour": "red"}, {"invocation_id": "7", "toolId": "t"}):
        assert emitter.record(odd) == odd
    assert caplog.text.count("no object of Agent Tool: colour") == 1
    assert caplog.text.count("no object of Agent Tool: invocation_id, toolId; hint: ") == 1
    assert not spans.finished()


def test_a_runtime_that_is_always_wrong_does_not_fill_the_log(
    spans: Any, caplog: pytest.LogCaptureFixture
) -> None:
    emitter = Call().emitter
    for n in range(1000):
        emitter.record({f"member_{n}": n})
    assert len(caplog.records) == 10


def test_values_that_json_has_no_form_for_cost_no_span(spans: Any) -> None:
    call = Call()
    call.invocation(model_input={"when": object(), 7: {1, 2}})
    call.done()
    assert call_span(spans).attributes["agenttool.invocation.id"] == "inv_1"


def test_later_changes_of_an_object_do_not_reach_the_span(spans: Any) -> None:
    values = {"query": "first"}
    call = Call()
    call.invocation(model_input=values)
    values["query"] = "second"
    call.done()
    assert json.loads(call_span(spans).attributes["agenttool.input.model"]) == {"query": "first"}


def test_a_fault_of_ours_is_not_the_programs(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from agentool_otel.integrations.agent_tool.events.translator import AgentToolEvents

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("a fault of ours")

    monkeypatch.setattr(settings, "strict", False)
    for name in ("read", "close"):
        monkeypatch.setattr(AgentToolEvents, name, broken)
    call = Call()
    assert call.emitter.record(EXAMPLES["Result"]) == EXAMPLES["Result"]
    call.emitter.flush()


def test_spans_inside_an_invocation_lie_below_its_own(spans: Any) -> None:
    call = Call()
    call.invocation(status="running", started_at=at(1))
    with call.emitter.as_current(call.id), agentool_otel.run("inner"):
        pass
    with call.emitter.as_current("of nobody"):
        pass
    call.done()
    inner = next(item for item in spans.finished() if not item.name.startswith("execute_tool"))
    assert inner.parent.span_id == call_span(spans).context.span_id


def test_invocations_of_many_threads_are_separate(spans: Any) -> None:
    from concurrent.futures import ThreadPoolExecutor

    emitter = Call().emitter

    def work(n: int) -> None:
        call = Call(emitter, f"inv_{n}")
        call.invocation(model_input={"n": n})
        call.progress(1, 1)
        call.done(structured_content=n)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(64)))
    results = {item.attributes["agenttool.invocation.id"]: item for item in spans.finished()}
    assert len(results) == 64
    assert all(
        json.loads(result.attributes["agenttool.input.model"]) == {"n": int(name[4:])}
        for name, result in results.items()
    )


CANARY = "canary-9f3b27"


def test_objects_after_the_end_are_recorded_as_facts(spans: Any) -> None:
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


def test_too_much_text_to_search_withholds_all_content(spans: Any) -> None:
    call = Call()
    contract = {"sensitive_fields": ["pins"]}
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "input_contract": contract})
    call.invocation(model_input={"pins": [f"pin number {n}" for n in range(200)]})
    call.done(structured_content="a row of the payload, " * 100_000)
    assert b"a row of the payload" not in exported(spans)
    assert call_span(spans).attributes["agenttool.withheld"] == "redaction_required"


def test_sensitive_fields_in_json_text_are_removed(spans: Any) -> None:
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


@pytest.mark.parametrize("message", [None, 3, "text", [1, 2]])
def test_what_is_no_object_at_all_is_given_back(message: Any, spans: Any) -> None:
    assert Call().emitter.record(message) is message
    assert not spans.finished()


class Odd(Mapping[str, Any]):
    """A mapping that cannot be read."""

    def __getitem__(self, name: str) -> Any:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("not now")

    def __len__(self) -> int:
        return 1


def test_what_cannot_be_read_is_given_back(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "strict", False)
    odd = Odd()
    assert Call().emitter.record(odd) is odd


def test_what_contains_itself_or_is_very_deep_costs_no_span(spans: Any) -> None:
    itself: dict[str, Any] = {}
    itself["itself"] = itself
    deep: Any = None
    for _ in range(100_000):
        deep = [deep]
    nested: Any = None
    for _ in range(600):
        nested = {"error": nested}
    for n, value in enumerate((itself, deep, nested, "\ud800", float("nan"))):
        Call(invocation_id=str(n)).done(structured_content=value, error=value)
    assert len(spans.finished()) == 5


@pytest.mark.parametrize("bad", [None, 7, ["x"], {"a": 1}, True, ""], ids=repr)
@pytest.mark.parametrize("kind", EXAMPLES)
def test_members_of_the_wrong_type_cost_no_span(kind: str, bad: Any, spans: Any) -> None:
    for name in EXAMPLES[kind]:
        call = Call()
        call.emitter.record({**EXAMPLES[kind], name: bad})
        call.done()
        call.emitter.record({**EXAMPLES[kind], name: bad})
        call.emitter.flush()
        objects(spans)
    assert spans.finished()


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_times_that_no_span_can_have_are_none(time: str, spans: Any) -> None:
    call = Call()
    call.invocation(created_at=time, started_at=time)
    call.event("tool.invocation.started", 1)
    call.done()
    assert exported(spans)
    assert objects(spans)[0]["created_at"] == at(0)


def test_an_object_of_ours_is_taken_too(spans: Any) -> None:
    emitter = Call().emitter
    record = emitter.record(read(EXAMPLES["Invocation"]))
    emitter.record(read({**EXAMPLES["Result"], "redaction_state": "none"}))
    span = call_span(spans)
    assert record["telemetry_refs"][0]["span_id"] == f"{span.context.span_id:016x}"


@pytest.mark.parametrize("given", [{}, {"invocation_id": 7}])
def test_an_object_that_belongs_to_no_call_is_named_once(
    given: dict[str, Any], spans: Any, caplog: pytest.LogCaptureFixture
) -> None:
    emitter = Call().emitter
    result = {name: value for name, value in EXAMPLES["Result"].items() if name != "invocation_id"}
    for _ in range(2):
        emitter.record({**result, **given})
    invocation_id = given.get("invocation_id", "none")
    assert caplog.text.count(f"expected a string at $.invocation_id, got {invocation_id}") == 1


def test_an_id_may_be_used_again_in_another_run(spans: Any) -> None:
    call = Call()
    call.invocation()
    call.done()
    later = {"created_at": "2026-11-23T11:00:00Z"}
    call.invocation(**later)
    call.invocation(status="succeeded", ended_at="2026-11-23T11:00:02Z", **later)
    call.result(created_at="2026-11-23T11:00:03Z")
    first, second = spans.finished()
    assert first.end_time < second.start_time


def test_a_call_in_another_calls_event_has_its_own_span(spans: Any) -> None:
    call = Call()
    sibling = {**EXAMPLES["Invocation"], "invocation_id": "inv_2"}
    event = call.event("tool.invocation.canceled", 1, invocation=sibling)
    call.emitter.flush()
    ids = {item.attributes["agenttool.invocation.id"]: item for item in spans.finished()}
    told_of = event["data"]["invocation"]["telemetry_refs"][0]["span_id"]
    assert told_of == f"{ids['inv_2'].context.span_id:016x}"
    assert event["trace_refs"][0]["span_id"] == f"{ids['inv_1'].context.span_id:016x}"


def test_an_early_result_does_not_begin_the_queue_time(spans: Any) -> None:
    call = Call()
    call.result(3)
    call.invocation(status="succeeded", started_at=at(1), ended_at=at(2))
    attributes = call_span(spans).attributes
    assert (attributes["agenttool.queue_ms"], attributes["agenttool.run_ms"]) == (1000, 1000)


def test_a_call_that_never_ends_is_marked(spans: Any) -> None:
    call = Call()
    call.invocation(status="running")
    call.emitter.flush()
    attributes = call_span(spans).attributes
    assert attributes["agentool.incomplete"] is True
    assert attributes["agentool.tool.incomplete"] == "call_only"


def test_calls_that_never_end_are_kept_up_to_a_size(
    spans: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "agentool_otel.integrations.agent_tool.events.translator._CHARACTERS", 10_000
    )
    emitter = Call().emitter
    for n in range(100):
        Call(emitter, f"inv_{n}").invocation(model_input="x" * 1000)
    assert len(spans.finished()) > 90


def test_nothing_of_a_call_that_has_ended_is_kept(spans: Any) -> None:
    call = Call()
    call.invocation()
    step = call.emitter._events.step(call.id)
    assert step is not None
    assert step.span.live is not None
    span = weakref.ref(step.span.live.span)
    call.done()
    spans.forget()
    del step
    gc.collect()
    assert span() is None


def test_withheld_spans_are_written_when_the_emitter_is_deleted(spans: Any) -> None:
    def runtime() -> None:
        call = Call()
        call.invocation(status="succeeded")
        call.result(redaction_state=None)

    runtime()
    gc.collect()
    assert call_span(spans).attributes["agenttool.result.status"] == "succeeded"


_PROGRAM = """
import agentool_otel, os, sys
from agentool_otel.integrations.agent_tool.emitter import AgentToolEmitter
emitter = AgentToolEmitter()
emitter.record({"tool_id": "t", "name": "early"})
agentool_otel.instrument()
emitter.record({"invocation_id": "inv_1", "tool_id": "t", "status": "succeeded"})
emitter.record({"invocation_id": "inv_1", "result_id": "r", "structured_content": "a result"})
if hasattr(os, "fork") and not (child := os.fork()):
    sys.exit()
elif hasattr(os, "fork"):
    os.waitpid(child, 0)
"""


def test_withheld_spans_are_written_once_at_exit(tmp_path: Path) -> None:
    """Also where the emitter is older than the receiver of its spans, and where a child exits
    first.
    """
    pytest.importorskip("opentelemetry.sdk")
    environ = {**os.environ, "AGENTOOL_DIR": str(tmp_path), "AGENTOOL_QUIET": "1"}
    subprocess.run([sys.executable, "-c", _PROGRAM], env=environ, check=True, timeout=60)
    spans = [
        span for span in open_source(str(tmp_path)).spans() if span.name == "execute_tool early"
    ]
    assert [item.attributes["gen_ai.tool.call.result"] for item in spans] == [
        '{"result":"a result"}'
    ]
