"""A tool of an agent's run that lost its context counts once, with its own error."""

from __future__ import annotations

import random
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentool_otel import evaluate
from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.parallel import rebuild_in_processes
from agentool_otel.reading.rebuild import runs
from tests.laws import many
from tests.reading.rebuild.loops import MS, START, span_of

AGENT = f"{1:032x}"
FAILED = ToolExecution(
    name="search", arguments={"word": "a"}, error_type="ValueError", error_message="no page"
)


def agent(number: int = 1, at: int = 0, **call: Any) -> list[SpanRecord]:
    """Return an agent's run whose model calls last from 0 to 10 and from 20 to 30 ms."""
    wants = message("assistant", [tool_call("search", {"word": "a"}, f"c{number}")])
    sent = message("tool", [tool_response("error: no page", f"c{number}")])
    request, output = message("user", [text("q")]), message("assistant", [text("Done.")])
    operations: list[tuple[Operation, int, int]] = [
        (AgentInvocation(agent_name="clerk"), 0, 40),
        (Inference(provider="p", input=[request], output=[wants]), 0, 10),
        (Inference(provider="p", input=[request, wants, sent], output=[output]), 20, 30),
    ]
    spans = []
    for place, (operation, start, end) in enumerate(operations):
        ids = {"trace_id": f"{number:032x}", "parent_id": f"{10 * number:016x}" if place else None}
        first, last = START + (at + start) * MS, START + (at + end) * MS
        spans.append(span_of(operation, 10 * number + place, first, last, **ids))
    return spans


def tool(
    operation: Operation = FAILED, number: int = 1000, start: int = 12, end: int = 18, **fields: Any
) -> SpanRecord:
    return span_of(operation, number, START + start * MS, START + end * MS, **fields)


def calls(spans: list[SpanRecord]) -> list[tuple[Any, int, bool | None]]:
    """Return agent, number of calls and whether `no_tool_error` passed, of each run."""
    results: list[tuple[Any, int, bool | None]] = []
    for item in rebuild(spans):
        count = sum(step.type == "tool_call" for step in item.trace.steps)
        [result] = evaluate([{"type": "no_tool_error", "in_results": False}], [item.trace])
        passed = result.assertion_results[0].passed
        results.append((item.trace.agent_id, count, passed))
    return results


@pytest.mark.parametrize("parent", [None, "f" * 16], ids=["no parent", "lost parent"])
@pytest.mark.parametrize("call_id", [None, "c1"])
def test_its_error_is_the_runs(call_id: str | None, parent: str | None) -> None:
    operation = ToolExecution(
        name="search",
        call_id=call_id,
        arguments={"word": "a"},
        error_type="ValueError",
        error_message="no page",
    )
    spans = [*agent(), tool(operation, parent_id=parent)]
    assert calls(spans) == [("clerk", 1, False)]
    assert calls(spans[::-1]) == [("clerk", 1, False)]


def test_a_tool_below_the_same_server_span_is_the_runs() -> None:
    server = SpanRecord(AGENT, "e" * 16, None, "POST /", start_ns=START - MS)
    root, *others = agent()
    root.parent_id = server.span_id
    below = tool(trace_id=AGENT, parent_id=server.span_id)
    assert calls([server, root, *others, below]) == [("clerk", 1, False)]


@pytest.mark.parametrize(
    "span",
    [
        tool(ToolExecution(name="other", arguments={"word": "a"})),
        tool(start=-5, end=-1),
        tool(start=22, end=28),
        tool(resource={"service.instance.id": "2"}),
        tool(ToolExecution(name="search", call_id="c9", arguments={"word": "a"})),
    ],
    ids=["other name", "before", "after", "other process", "other id"],
)
def test_a_tool_that_breaks_one_condition_is_a_run_of_its_own(span: SpanRecord) -> None:
    assert len(calls([*agent(), span])) == 2


def test_a_loop_of_its_own_keeps_its_tool() -> None:
    """A tool that a model call outside the run requested by id is not the run's."""
    request = message("user", [text("other")])
    wants = message("assistant", [tool_call("search", {"word": "a"}, "d1")])
    loop = tool(Inference(provider="p", input=[request], output=[wants]), 2000, 1, 11)
    own = tool(ToolExecution(name="search", call_id="d1", arguments={"word": "a"}), 2001)
    assert sorted(calls([*agent(), loop, own]), key=str)[0][1:] == (1, True)
    assert [count for _, count, _ in calls([*agent(), loop, own])] == [1, 1]


NAMELESS = ToolExecution(name="search", error_type="ValueError", error_message="no page")


def loop(number: int, at: int = 0) -> list[SpanRecord]:
    """Return the model calls of `agent` without an agent, each alone in its OTel trace."""
    return [
        replace(span, trace_id=f"{span.span_id:0>32}", parent_id=None)
        for span in agent(number, at)[1:]
    ]


@pytest.mark.parametrize("program", [agent, loop])
@pytest.mark.parametrize("tools", [1, 2])
def test_a_bare_tool_of_two_concurrent_runs_is_unmatched(
    program: Callable[[int, int], list[SpanRecord]], tools: int
) -> None:
    executed = [tool(NAMELESS, 1000 + n, 13 + n, 16 + n) for n in range(tools)]
    spans = [*program(1, 0), *program(2, 1), *executed]
    for ordered in (spans, spans[::-1]):
        result = calls(ordered)
        assert [passed for agent_id, _, passed in result if agent_id in ("clerk", "shop")] == [
            None
        ] * 2
        assert [passed for *_, passed in result].count(False) == tools


def test_an_unmatched_tool_leaves_verdicts_on_other_tools() -> None:
    spans = [*agent(1, 0), *agent(2, 1), tool(NAMELESS, 1000, 13, 17)]
    checks = [{"type": "no_tool_error", "tool_name": name} for name in ("search", "write")]
    clerks = [item.trace for item in rebuild(spans) if item.trace.agent_id == "clerk"]
    for result in evaluate(checks, clerks):
        assert [assertion_result.passed for assertion_result in result.assertion_results] == [
            None,
            True,
        ]


@pytest.mark.parametrize("with_tool", [False, True])
def test_runs_kept_in_memory_and_on_disk_are_the_same(
    with_tool: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = [span for number in range(1, 40) for span in agent(number, 50 * number)]
    spans += [
        tool(FAILED, 1000 + n, 50 * n + 12, 50 * n + 18) for n in range(1, 40, 3) if with_tool
    ]
    documents = [item.document for item in rebuild(spans)]
    for room in (0, 20_000):
        monkeypatch.setattr(runs, "_ROOM", room)
        assert [item.document for item in rebuild(spans)] == documents


@settings(max_examples=many(100), deadline=None)
@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_of_many_runs_at_once_each_has_its_tool(chance: random.Random, count: int) -> None:
    spans: list[SpanRecord] = []
    for number in range(1, count + 1):
        at = chance.randint(0, 60)
        spans += agent(number, at)
        spans.append(tool(FAILED, 1000 + number, at + 12, at + 18))
    chance.shuffle(spans)
    assert calls(spans) == [("clerk", 1, False)] * count


def test_several_processes_rebuild_the_same() -> None:
    spans = [*agent(), tool(), *agent(2, 500)]
    groups: dict[str, list[Any]] = {}
    for span in spans:
        groups.setdefault(span.trace_id, []).append(span)
    result = list(rebuild_in_processes(groups.values(), 1, attrgetter("trace_id")))
    assert result == [item.trace_id for item in rebuild(spans)]
    assert len(result) == 2
