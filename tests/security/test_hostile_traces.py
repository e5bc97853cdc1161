"""Depth, fan-out and numbers come from the file.

Whatever the shape of a trace, the work per span is that of an ordinary one, and what cannot be done
with one trace is its own loss.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.cli import main
from agentool_otel.loading import rebuild
from agentool_otel.model.problems import Problem
from agentool_otel.reading.rebuild import trace as rebuilt_traces
from agentool_otel.reading.rebuild import trace_fields
from agentool_otel.reading.rebuild.correlation import unknown_messages
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.rebuild.tree import Node, grow
from tests import hostile_traces
from tests.click_runner import CliRunner
from tests.hostile_traces import (
    CROWDS,
    OTHER_SHAPES,
    SHAPES,
    Shape,
    lines_of_work,
    lines_per_span,
    ordinary,
    span,
)
from tests.laws import many

MANY = 1200
MOST = 3.0
"""Times the work per span of an ordinary trace."""


def written(rebuilt: Rebuilt) -> None:
    rebuilt.to_bytes()


@pytest.fixture(scope="module")
def usual() -> float:
    lines_per_span(ordinary(100), written)  # what is made once
    return lines_per_span(ordinary(MANY), written)


@pytest.mark.parametrize("shape", [*SHAPES.values(), *OTHER_SHAPES.values()],
                         ids=[*SHAPES, *OTHER_SHAPES])  # fmt: skip
def test_the_work_per_span_does_not_grow_with_the_shape(shape: Shape, usual: float) -> None:
    assert lines_per_span(shape(MANY), written) < MOST * usual


@pytest.mark.parametrize("shape", CROWDS.values(), ids=CROWDS)
def test_the_work_for_things_that_are_alike_grows_in_proportion(shape: Shape) -> None:
    few, more = (lines_of_work(shape(number), written) for number in (100, 400))
    assert more < 1.3 * 4 * few


def test_reports_of_many_runs_take_linear_time(usual: float) -> None:
    def reported(rebuilt: Rebuilt) -> None:
        assert not rebuilt.may_hide()
        assert rebuilt.fidelity.spans

    few = lines_per_span(hostile_traces.chain("agent")(200), reported)
    assert lines_per_span(hostile_traces.chain("agent")(800), reported) < 1.5 * few


KINDS = st.sampled_from(["agent", "chat", "tool", "bare tool", "unread chat", "workflow", "mcp",
                         "transfer", "delegation", "plain", "evaluation"])  # fmt: skip


@settings(max_examples=many(100))
@given(
    st.sampled_from([hostile_traces.chain, hostile_traces.comb, hostile_traces.broom,
                     hostile_traces.fan, hostile_traces.circle, hostile_traces.upwards]),
    st.lists(KINDS, min_size=2, max_size=4),
)  # fmt: skip
def test_any_kinds_in_any_shape_take_work_in_proportion(
    form: Callable[..., Shape], kinds: list[str]
) -> None:
    shape = form(*kinds)
    few, more = (lines_per_span(shape(spans), written) for spans in (100, 400))
    assert more < 1.6 * few


@given(st.data(), st.integers(1, 60))
def test_what_lies_around_and_below_is_what_a_walk_finds(data: st.DataObject, size: int) -> None:
    parents = [data.draw(st.none() | st.integers(0, size)) for _ in range(size)]
    nodes = grow([span(n, "plain", parent) for n, parent in enumerate(parents)])
    for node in nodes:
        outer = walked(node)
        assert node.lineage.top(node) is [node, *outer][-1]
        for depth in (0, 1, 3):

            def is_outer(up: Node, most: int = depth) -> bool:
                return len(walked(up)) <= most

            assert node.lineage.lowest(node, is_outer) is next(filter(is_outer, outer), None)
        for second in nodes[:8]:
            assert node.is_below(second) == (second in outer)
        below = sum(node in walked(second) for second in nodes)
        assert node.lineage.count(lambda _: ("all",), "all", below=node) == below


def walked(node: Node) -> list[Node]:
    nodes: list[Node] = []
    while node.parent is not None:
        nodes.append(node := node.parent)
    return nodes


def test_how_many_runs_may_wait_at_once_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of calls without messages, all of which wait for tools at once, with none nearer to any."""
    counts: list[int] = []
    may_share = unknown_messages._may_share_conversation

    def counted(run: Any, node: Node) -> bool:
        counts.append(1)
        return may_share(run, node)

    monkeypatch.setattr(unknown_messages, "_may_share_conversation", counted)
    calls = 400
    shape = hostile_traces.fan("plain", "unread chat", end_ns=2**62)
    spans = shape(calls)
    for number, one in enumerate(spans):
        one.scope = f"some.sdk.{number}"
        one.attributes = {**one.attributes, "gen_ai.conversation.id": f"c{number}"}
    list(rebuild(spans))
    assert unknown_messages._OPEN * (calls - 2 * unknown_messages._OPEN) < len(counts)
    assert len(counts) <= unknown_messages._OPEN * calls


# ------------------------------------------------------------------------------------ its own loss


@pytest.mark.parametrize("field", ["start_ns", "end_ns"])
@pytest.mark.parametrize("time", [10**300, -(10**300), 253_402_300_800 * 10**9])
def test_a_time_outside_the_calendar_counts_as_unknown(field: str, time: int) -> None:
    spans = [span(0, "agent"), span(1, "chat", 0), span(2, "tool", 0)]
    for one in spans:
        setattr(one, field, time)
    [rebuilt] = rebuild(spans)
    member = {"start_ns": "started_at", "end_ns": "finished_at"}[field]
    assert member not in rebuilt.trace.to_dict()
    notes = [note for note in rebuilt.fidelity.notes if note.field == field]
    assert [note.outcome for note in notes] == ["damaged"] * 3


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A file of three traces, one of which raises."""
    monkeypatch.delenv("AGENTOOL_OTEL_STRICT", raising=False)
    document_of = trace_fields.document_of

    def raising(run: Any, subtraces: Any) -> dict[str, Any]:
        if run.root.span.name == "invoke_agent bad":
            raise RuntimeError("as nobody has\nforeseen")
        return document_of(run, subtraces)

    monkeypatch.setattr(rebuilt_traces, "document_of", raising)
    path = tmp_path / "spans.jsonl"
    with path.open("w") as file:
        for number, name in enumerate(["good", "bad", "fine"], 1):
            attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
            values = [
                {"key": k, "value": {"stringValue": attribute}}
                for k, attribute in attributes.items()
            ]
            one = {"traceId": f"{number:032x}", "spanId": f"{number:016x}", "attributes": values,
                   "name": f"invoke_agent {name}", "startTimeUnixNano": str(number),
                   "endTimeUnixNano": str(number + 1)}  # fmt: skip
            document = {"resourceSpans": [{"scopeSpans": [{"spans": [one]}]}]}
            file.write(json.dumps(document) + "\n")
    return path


@pytest.mark.parametrize("command", ["rebuild", "show"])
def test_a_trace_that_cannot_be_rebuilt_costs_itself_alone(failing: Path, command: str) -> None:
    result = CliRunner().invoke(main, [command, str(failing)])
    assert result.exit_code == 1
    assert "good" in result.stdout
    assert "fine" in result.stdout
    assert f"problem: trace {2:032x}: left out" in result.stderr
    assert "RuntimeError: as nobody has foreseen" in result.stderr


def test_programs_get_a_notice(failing: Path, caplog: pytest.LogCaptureFixture) -> None:
    from agentool_otel.reading.sources.opening import open_source

    problems: list[Problem] = []
    spans = list(open_source(failing).spans())
    assert len(list(rebuild(spans, report=problems.append))) == 2
    assert [problem.where for problem in problems] == [f"trace {2:032x}"]
    assert len(list(rebuild(spans))) == 2
    assert "left out" in caplog.text
