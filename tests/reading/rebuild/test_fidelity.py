"""The fidelity report on spans with hidden, truncated or repeated data."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.cli._explain import explanation
from agentool_otel.ground.json_codec import dumps
from agentool_otel.loading import rebuild
from agentool_otel.model.operations import AgentInvocation, Inference, McpRequest, ToolExecution
from agentool_otel.model.spans import Damage, SpanEvent
from agentool_otel.reading.rebuild.trace import Rebuilt
from tests.records import Collected, shape

ARGUMENTS = "gen_ai.tool.call.arguments"


def rebuilt(spans: Collected) -> Rebuilt:
    [result] = rebuild(spans.spans)
    return result


def a_tool_call(arguments: str) -> Collected:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    span = spans.add(ToolExecution(name="t", call_id="c"), parent=root)
    span.attributes[ARGUMENTS] = arguments
    return spans


@pytest.mark.parametrize(
    ("arguments", "outcome"),
    [
        ("<REDACTED>", "redacted"),
        ("<not specified>", "not_captured"),
        ('{"a": "bcd... [TRUNCATED: original length 4096]', "truncated"),
        ('{"a": "bcd', "truncated"),
    ],
)
def test_an_attribute_with_a_placeholder_or_a_cut_value_is_noted(
    arguments: str, outcome: str
) -> None:
    notes = rebuilt(a_tool_call(arguments)).fidelity.notes
    assert [note.outcome for note in notes if note.attribute == ARGUMENTS] == [outcome]


def test_media_are_noted_as_lost_and_beside_a_credential_as_redacted() -> None:
    mark = f"media-image-png-9000-bytes-sha256-{64 * 'a'}"
    for text, outcome in ((mark, "lost"), (f"data:image/png;base64,{mark}", "lost"),
                          (f"{mark} [masked]", "redacted")):  # fmt: skip
        notes = rebuilt(a_tool_call(dumps({"image": text}))).fidelity.notes
        assert [note.outcome for note in notes if note.field.endswith("image")] == [outcome]


def test_values_masked_by_a_collector_are_redacted_on_spans_and_events() -> None:
    tool_call = a_tool_call("****")
    tool_call.spans[1].attributes |= {
        "redaction.masked.keys": ARGUMENTS,
        "redaction.masked.count": 1,
    }
    masked = {"agentool.step.content": "****", "redaction.masked.keys": "agentool.step.content"}
    tool_call.spans[0].events.append(SpanEvent("agentool.step", attributes=masked))
    report = rebuilt(tool_call).fidelity
    redacted = {note.field for note in report.notes if note.outcome == "redacted"}
    members = {"tool_call", "tool_call.arguments", "content"}
    assert redacted == {ARGUMENTS, "agentool.step.content", *members}
    assert not report.unread


def test_a_value_cut_within_a_character_is_truncated() -> None:
    """Half of a character is replaced on reading or by the store."""
    for noted in ((Damage(f"attributes.{ARGUMENTS}", cut=True),), ()):
        tool_call = a_tool_call('{"a": "bcd\ufffd')
        tool_call.spans[1].damaged = noted
        report = rebuilt(tool_call)
        notes = [note for note in report.fidelity.notes if note.attribute == ARGUMENTS]
        assert [(note.outcome, note.span_id) for note in notes] == [
            ("truncated", tool_call.spans[1].span_id)
        ]
        call = report.trace.to_dict()["steps"][0]["tool_call"]
        assert call["arguments"] == '{"a": "bcd\ufffd'


def test_a_value_with_bytes_that_were_no_text_is_damaged() -> None:
    tool_call = a_tool_call('{"a": "b\ufffdd"}')
    tool_call.spans[1].damaged = (
        Damage(f"attributes.{ARGUMENTS}", cut=False),
        Damage("status_message", cut=True),
    )
    report = rebuilt(tool_call)
    notes = {(note.outcome, note.field) for note in report.fidelity.notes}
    assert ("damaged", ARGUMENTS) in notes
    assert ("truncated", "status_message") in notes
    assert report.fidelity.summary()["damaged"] == 1
    assert "damaged" in "\n".join(line.plain for line in explanation(report))


def test_damage_of_a_resource_is_noted_once() -> None:
    tool_call = a_tool_call("{}")
    for span in tool_call.spans:
        span.damaged = (Damage("resource.host.name", cut=False),)
    notes = [note.field for note in rebuilt(tool_call).fidelity.notes if note.outcome == "damaged"]
    assert notes == ["resource.host.name"]


def test_a_model_call_around_another_is_a_duplicate() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    outer = spans.add(Inference(request_model="m"), parent=root, seconds=5)
    spans.add(Inference(request_model="m"), parent=outer)
    assert duplicates(spans) == [("model call", outer.span_id)]


def test_an_mcp_request_below_its_tool_span_is_a_duplicate() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    tool = spans.add(ToolExecution(name="t", call_id="c"), parent=root, seconds=5)
    request = spans.add(McpRequest(tool_name="t"), parent=tool)
    assert duplicates(spans) == [("tool_call", request.span_id)]


def test_a_tool_span_below_one_of_the_same_call_is_a_duplicate() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    outer = spans.add(ToolExecution(name="t", call_id="c"), parent=root, seconds=5)
    inner = spans.add(ToolExecution(name="t", call_id="c", result="r"), parent=outer)
    assert duplicates(spans) == [("tool_call", inner.span_id)]
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t None", "result c r"]


def test_a_tool_span_beside_one_of_the_same_call_is_a_duplicate() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    spans.add(ToolExecution(name="t", call_id="c", arguments={"n": 1}), parent=root, seconds=5)
    again = spans.add(
        ToolExecution(name="t", call_id="c", result="r"), parent=root, scope="another.sdk"
    )
    assert duplicates(spans) == [("tool_call", again.span_id)]
    assert shape(spans.rebuilt()[0]) == ["call c t {'n': 1}", "result c r"]


@pytest.mark.parametrize(
    ("seconds", "second"),
    [
        pytest.param(1, ToolExecution(name="t", call_id="c", arguments={"n": 1}), id="later"),
        pytest.param(5, ToolExecution(name="t", call_id="c", arguments={"n": 2}), id="arguments"),
        pytest.param(5, ToolExecution(name="u", call_id="c", arguments={"n": 1}), id="name"),
    ],
)
def test_a_reused_call_id_is_another_call(seconds: float, second: ToolExecution) -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    first = ToolExecution(name="t", call_id="c", arguments={"n": 1})
    spans.add(first, parent=root, seconds=seconds)
    spans.add(second, parent=root)
    assert duplicates(spans) == []
    assert len([line for line in shape(spans.rebuilt()[0]) if line.startswith("call c")]) == 2


@pytest.mark.parametrize("bare", [True, False], ids=["bare call", "run"])
def test_copies_of_spans_that_were_left_out_are_counted(bare: bool) -> None:
    spans = Collected()
    spans.add(Inference(request_model="m") if bare else AgentInvocation(agent_name="a"))
    spans.spans *= 3
    [note] = [note for note in rebuilt(spans).fidelity.notes if note.outcome == "duplicate"]
    assert (note.field, note.rule) == (
        "spans",
        "2 more copies in the OTel trace: the most complete one of each counts",
    )


def duplicates(spans: Collected) -> list[tuple[str, Any]]:
    notes = rebuilt(spans).fidelity.notes
    return [(note.field, note.span_id) for note in notes if note.outcome == "duplicate"]


def test_the_report_has_the_reading_of_each_span() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"), seconds=9)
    spans.add(ToolExecution(name="t"), parent=root, attributes={"http.method": "GET"}, name="GET /")
    readings = {reading.name: reading for reading in rebuilt(spans).fidelity.readings}
    assert readings["invoke_agent a"].dialect == "gen_ai"
    assert readings["invoke_agent a"].why
    assert readings["GET /"].dialect is None


def test_an_explanation_is_read_from_top_to_bottom() -> None:
    tool_call = a_tool_call("<REDACTED>")
    tool_call.spans[0].attributes["app.mood"] = "good"
    lines = [line.plain for line in explanation(rebuilt(tool_call))]
    headings = [line for line in lines if line.startswith("  ") and line[2] != " "]
    assert headings[2:] == [
        "  how the spans were read",
        "  the trace itself",
        "  step_001  tool_call",
        "  step_002  tool_result",
        "  attributes that were not used",
    ]
    words = [" ".join(line.split()) for line in lines]
    assert f"{ARGUMENTS} ! redacted span 00000000 (it says '<REDACTED>')" in words
    assert "    app.mood  on 1 span" in lines
