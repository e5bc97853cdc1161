"""Objects of Agent Tool become spans and come back, whatever is in them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.ground.json_codec import canonical
from agentool_otel.integrations.agent_tool.documents.objects import (
    OBJECTS,
    Event,
    Invocation,
    PermissionDecision,
    Progress,
    Result,
    ResultPersistence,
    Versioned,
)
from agentool_otel.integrations.agent_tool.events.facts import facts_of
from agentool_otel.integrations.agent_tool.events.from_spans import objects_in_spans
from agentool_otel.integrations.agent_tool.events.objects_on_spans import (
    object_in,
    object_on,
    put_object,
)
from agentool_otel.integrations.agent_tool.events.translator import AgentToolEvents
from agentool_otel.integrations.agent_tool.events.withholding import Withheld
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.recorded_steps import RecordedStep, SpanRecorder
from tests.seed_systems.agent_tool_documents import EXAMPLES, generated, invocation
from tests.strategies import exact, objects, values

told = st.one_of([st.tuples(st.just(cls), generated(cls)) for cls in OBJECTS])


def spans_of(objects: list[dict[str, Any]]) -> list[SpanRecord]:
    """Return the spans of a runtime's objects."""
    spans: list[SpanRecord] = []
    events: AgentToolEvents[RecordedStep] = AgentToolEvents(SpanRecorder(spans.append, "test", {}))
    for n, obj in enumerate(objects):
        events.read(obj, n)
    events.close()
    return spans


@given(data=told)
def test_an_object_is_read_from_what_it_is_written_as(
    data: tuple[type[Versioned], dict[str, Any]],
) -> None:
    cls, members = data
    kind = cls.__name__
    attributes = put_object(kind, members, content=True)
    own = kind in ("Invocation", "Result")
    result = object_on(kind, attributes) if own else object_in(attributes)
    assert exact(result) == exact(members)


@given(members=objects)
def test_facts_are_a_part_of_an_object_and_need_no_permission(members: dict[str, Any]) -> None:
    facts = facts_of(members)
    assert facts_of(facts) == facts
    attributes = put_object("Hook", members, content=False)
    assert exact(object_in(attributes)) == exact(facts)


@given(text=st.text(min_size=1), name=st.text())
def test_text_under_an_unknown_name_is_no_fact(text: str, name: str) -> None:
    assert facts_of({f"{name} of tomorrow": text, "data": {"note": [text]}}) == {"data": {}}


_ABOUT = {"invocation_id": "inv_1", "tool_id": "tool_search"}
calls = st.lists(
    st.one_of(
        [generated(item) for item in (PermissionDecision, Progress, ResultPersistence, Event)]
    )
    | generated(Invocation).map(lambda item: {**item, **_ABOUT})
    | generated(Result)
    | st.sampled_from([*EXAMPLES.values()]),
    max_size=6,
)


@given(runtime=calls)
def test_any_objects_give_spans_that_end_once(
    runtime: list[dict[str, Any]],
) -> None:
    spans = spans_of(runtime)
    assert all(span.end_ns is not None and span.start_ns is not None for span in spans)
    assert len({span.span_id for span in spans}) == len(spans)
    list(objects_in_spans(spans))


@given(
    given=generated(Invocation), result=generated(Result), decision=generated(PermissionDecision)
)
def test_the_objects_of_a_call_come_back_from_its_span(
    given: dict[str, Any], result: dict[str, Any], decision: dict[str, Any]
) -> None:
    given = {**given, **_ABOUT}
    result = {**result, "invocation_id": "inv_1", "redaction_state": "none", "status": "failed"}
    decision = {**decision, "invocation_id": "inv_1"}
    spans = spans_of([given, decision, result])
    match = list(objects_in_spans(spans))
    assert exact(match) == exact([given, decision, result])


@given(secret=st.text(min_size=4), around=values, data=objects)
def test_a_value_that_must_not_leave_is_in_no_text(secret: str, around: Any, data: Any) -> None:
    guard = Withheld(["pin"])
    guard.learn({"user": [{"pin": {"inner": secret}}]})
    clean = guard.remove_from([around, data, {"pin": around, "note": f"it is {secret}."}, [secret]])
    texts = [*_texts(clean)]
    assert not any(secret in text.replace("[redacted]", "") for text in texts)
    assert guard.remove_from({"pin": 1}) == {"pin": "[redacted]"}


def _texts(value: Any) -> Any:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from (name, *_texts(inner))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def test_an_attribute_that_was_shortened_leaves_the_facts() -> None:
    attributes = put_object("Hook", {"hook_id": "h", "outputs": ["x"]}, content=True)
    attributes["agenttool.object.content"] = canonical({"outputs": ["x"]})[:7]
    assert object_in(attributes) == {"hook_id": "h"}


def test_a_result_waits_ten_seconds_for_its_invocation() -> None:
    """Theirs may be wrong, and go backwards."""
    result = {**EXAMPLES["Result"], "redaction_state": "none", "created_at": "2099-01-01T00:00:00Z"}
    seconds = 0.0
    spans: list[SpanRecord] = []
    events: AgentToolEvents[RecordedStep] = AgentToolEvents(
        SpanRecorder(spans.append, "test", {}), lambda: int(seconds * 1e9)
    )
    events.read(result, 0)
    seconds = 9.9
    events.read(EXAMPLES["ToolSurface"], 0)
    assert [span.name for span in spans] == ["tool.surface.created"]
    seconds = 10
    events.read(EXAMPLES["ToolSurface"], 0)
    assert "execute_tool unknown" in {span.name for span in spans}


def test_an_invocation_below_another_lies_below_its_span() -> None:
    outer = invocation("outer")
    inner = invocation("inner", parent_invocation_id="outer")
    spans = {span.attributes["agenttool.invocation.id"]: span for span in spans_of([outer, inner])}
    assert spans["inner"].parent_id == spans["outer"].span_id
