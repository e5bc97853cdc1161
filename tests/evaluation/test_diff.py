"""Differences between two traces, and values that do not count or are unknown."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest

from agentool_otel import ReasoningTrace
from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation import TraceDiff, TraceView, diff
from agentool_otel.evaluation.trace_diff.ignored import IDS, TIMES, Ignoring
from agentool_otel.evaluation.trace_diff.partners import partners
from agentool_otel.evaluation.trace_diff.pieces import pieces
from agentool_otel.model.documents import UNSET
from tests.evaluation.runs import RUN, changed, without_calls
from tests.evaluation.test_spans import ARGUMENTS, SPANS, masked, rebuilt

Object = dict[str, Any]
MASKED = "[masked]"
CUT = "… [truncated: 500 characters]"


def differences(a: Object, b: Object, **options: Any) -> TraceDiff:
    return diff(ReasoningTrace.from_dict(a), ReasoningTrace.from_dict(b), **options)


def told(trace_diff: TraceDiff) -> list[Any]:
    """The differences in the steps: kind, places, and the pieces."""
    return [
        (
            step.kind,
            step.a and step.a.place,
            step.b and step.b.place,
            *(change.path for change in step.changes),
        )
        for step in trace_diff.steps
    ]


def call(query: str, n: int = 0, name: str = "search", result: Any = None) -> list[Object]:
    results: list[Object] = [
        {
            "type": "tool_call",
            "tool_call": {"id": f"{query}{n}", "name": name, "arguments": {"query": query}},
        }
    ]
    if result is not None:
        output = {"call_id": f"{query}{n}", "output": result}
        results.append({"type": "tool_result", "tool_result": output})
    return results


def thought(text: str) -> list[Object]:
    return [{"type": "reasoning", "content": text}]


def of_steps(*steps: list[Object]) -> Object:
    return {
        "trace_id": "t",
        "steps": [copy.deepcopy(item) for several in steps for item in several],
    }


A, B, C = call("a", result="1"), call("b", result="2"), call("c", result="3")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([A, B, C], [A, B, C], []),
        ([A, C], [A, B, C], [("added", None, 3)]),
        ([A, B, C], [A, C], [("lost", 3, None)]),
        ([A, B, C], [B, C, A], [("moved", 1, 5)]),
        ([call("a"), call("b"), C], [call("b"), call("a"), C], [("reordered", 2, 1)]),
        ([A, B], [A, call("b", result="new")], [("changed", 3, 3, "result")]),
        ([A, B], [A, call("x", result="2")], [("changed", 3, 3, "arguments.query")]),
        ([A, B], [A, call("b", name="ask", result="2")], [("lost", 3, None), ("added", None, 3)]),
        ([thought("so"), A], [thought("and so"), A], [("changed", 1, 1, "content")]),
        ([A, A, B], [A, B], [("lost", 3, None)]),
        ([A, B], [A, call("b")], [("changed", 3, 3, "result")]),
        (
            [call("poll", 1, result="wait"), call("poll", 2, result="done")],
            [call("poll", 2, result="done")],
            [("lost", 1, None)],
        ),
        (
            [thought("1"), A, thought("2"), B],
            [thought("x"), thought("1"), A, thought("y"), B],
            [("added", None, 1), ("changed", 4, 5, "content")],
        ),
    ],
)
def test_steps_are_aligned_by_type_and_content(
    before: list[Any], after: list[Any], expected: list[Any]
) -> None:
    assert told(differences(of_steps(*before), of_steps(*after))) == expected


def test_a_changed_call_that_moved_within_its_batch_is_matched() -> None:
    a = of_steps(call("rome and more"), call("paris"))
    b = of_steps(call("paris"), call("rome and less"))
    assert told(differences(a, b)) == [("reordered", 1, 2, "arguments.query")]


def test_the_order_of_results_does_not_count() -> None:
    (ask_a, a), (ask_b, b) = A, B
    parallel = {"trace_id": "t", "steps": [ask_a, ask_b, a, b]}
    assert differences(parallel, {"trace_id": "t", "steps": [ask_a, ask_b, b, a]}).same


@pytest.mark.parametrize(
    ("step", "member", "value"),
    [
        ({"type": "handoff", "to_agent": "w", "message": "x"}, "message", "y"),
        ({"type": "memory_read", "query": "q", "results": ["x"]}, "results", ["y"]),
        ({"type": "memory_read", "query": "q", "results": []}, "query", "y"),
        ({"type": "memory_write", "key": "k", "content": 1}, "content", 2),
        ({"type": "memory_write", "key": 1, "content": 1}, "key", 2),
        ({"type": "dream", "content": 1}, "content", 2),
        ({"type": "dream", "of": "sheep"}, "of", "cows"),
    ],
)
def test_every_text_of_a_step_is_compared(step: Object, member: str, value: Any) -> None:
    result = differences(of_steps([step]), of_steps([{**step, member: value}]))
    ((kind, _, _, path),) = told(result)
    assert kind == "changed"
    assert path.split(".")[-1].split("[")[0] == member


def test_a_newly_failing_tool_is_an_error_and_not_a_different_result() -> None:
    failing = of_steps(A)
    failing["steps"][1]["tool_result"] = {"call_id": "a0", "error": "down"}
    result = differences(of_steps(A), failing)
    assert told(result) == [("changed", 1, 1, "error")]
    assert result.certain


@pytest.mark.parametrize(
    ("members", "path"),
    [
        ({"input": "else"}, "input"),
        ({"output": "else"}, "output"),
        ({"status": "error"}, "status"),
        ({"agent_id": "writer"}, "agent_id"),
        ({"metadata": {"error": {"message": "down", "span_id": "1"}}}, "error.message"),
        ({"metadata": {"error": "down"}}, "error.message"),
    ],
)
def test_input_output_and_other_members_of_the_trace_are_compared(
    members: Object, path: str
) -> None:
    result = differences(RUN, changed(**members))
    assert [change.path for change in result.changes] == [path]
    assert not result.same


def test_models_are_compared_where_both_are_known() -> None:
    small, large = (changed(metadata={"model": name}) for name in ("small", "large"))
    assert [change.path for change in differences(small, large).changes] == ["models"]
    one_sided = differences(small, RUN)
    assert [item.path for item in one_sided.unknown] == ["models"]
    assert one_sided.same


# ------------------------------------------------------------------------------------- totals


def test_totals_are_reported_but_do_not_count() -> None:
    result = differences(RUN, changed(metrics={"total_tokens": 1}))
    by_name = {measure.name: (measure.a, measure.b, measure.differs) for measure in result.measures}
    assert result.same
    assert by_name["tokens"] == (3200, 1, False)
    assert by_name["cost_usd"] == (0.0032, None, False)
    assert by_name["tool_calls"] == (2, 2, False)
    assert "input_tokens" not in by_name


@pytest.mark.parametrize(
    ("tolerance", "tokens", "differs"),
    [
        ("10%", 3520, False),
        ("10%", 3521, True),
        ("10%", 2879, True),
        (5, 3205, False),
        ("5", 3206, True),
        ("0", 3200, False),
        ("+10%", 3521, True),
        ("+10%", 1, False),
        ("10%", None, None),
    ],
)
def test_a_total_counts_beyond_its_tolerance(tolerance: Any, tokens: Any, differs: Any) -> None:
    b = changed(metrics={**RUN["metrics"], "total_tokens": tokens})
    result = differences(RUN, b, tolerances={"tokens": tolerance})
    (measure,) = (measure for measure in result.measures if measure.name == "tokens")
    assert measure.differs is differs
    assert result.same is not differs or differs is None
    assert result.certain is (differs is not None)


def test_a_duration_without_a_total_comes_from_the_times_of_the_trace() -> None:
    times = {"started_at": "2026-01-01T00:00:00Z", "finished_at": "2026-01-01T00:00:16Z"}
    b = changed(metrics={}, **times)
    assert differences(RUN, b, tolerances={"duration": "1s"}).same
    assert not differences(RUN, b, tolerances={"duration_ms": "999ms"}).same


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tolerances": {"tokens": "much"}}, "'much' is no tolerance for tokens"),
        ({"tolerances": {"tokens": "2s"}}, "no tolerance"),
        ({"tolerances": {"colour": 1}}, "no total is called 'colour'; known are steps, tool_calls"),
        ({"skip": ["colour"]}, "no part is called 'colour'"),
        ({"ignore": ["("]}, "is no regular expression"),
    ],
)
def test_invalid_options_are_errors(options: Any, said: str) -> None:
    with pytest.raises(EvaluationError, match=re.escape(said)):
        differences(RUN, RUN, **options)


# ---------------------------------------------------------------------------- what does not count


@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("input", {**RUN, "input": "else"}),
        ("output", {**RUN, "output": "else"}),
        ("status", {**RUN, "status": "error", "metadata": {"error": {"type": "E"}}}),
        ("agent", {**RUN, "agent_id": "else"}),
        ("reasoning", {**RUN, "steps": [*thought("hm"), *RUN["steps"]]}),
        ("order", {**RUN, "steps": [*RUN["steps"][2:], *RUN["steps"][:2]]}),
    ],
)
def test_a_part_can_be_left_out(part: Any, other: Object) -> None:
    assert not differences(RUN, other).same
    assert differences(RUN, other, skip=[part]).same


def test_arguments_results_and_texts_can_be_left_out() -> None:
    a = of_steps(thought("x"), call("a", result=1))
    b = of_steps(thought("y"), call("b", result=2))
    paths = {path for _, _, _, *results in told(differences(a, b)) for path in results}
    assert paths == {"content", "arguments.query", "result"}
    assert differences(a, b, skip=["content", "arguments", "results"]).same


ID = "0d3ee3a5-8c3b-4b4e-9a64-6c8e6d7f9c{:02}"


@pytest.mark.parametrize(
    ("patterns", "texts"),
    [
        ([r"run \d+"], ("it was run 1", "it was run 22")),
        (IDS, (f"order {ID.format(1)}", f"order {ID.format(2)}")),
        (IDS, ("call_0123456789abcdefABCD", "call_0123456789abcdefABCE")),
        (IDS, ("span 00f067aa0ba902b7 ended", "span 00f067aa0ba902b8 ended")),
        (TIMES, ("on 2026-01-01", "on 2026-02-03")),
        (TIMES, ("at 2026-01-01T10:00:00.5Z", "at 2026-02-03T11:12:13+02:00")),
        (TIMES, ("at 10:11:12", "at 11:11:12")),
    ],
)
def test_text_that_matches_an_ignore_pattern_is_equal(
    patterns: Any, texts: tuple[str, str]
) -> None:
    a, b = (of_steps(call(text, result={"seen": [text]})) for text in texts)
    assert not differences(a, b).same
    assert differences(a, b, ignore=patterns).same


@pytest.mark.parametrize("texts", [("the facade", "the decade"), ("1 of 3", "2 of 3")])
def test_ordinary_words_and_numbers_are_not_ignored_as_ids_or_times(texts: tuple[str, str]) -> None:
    a, b = (of_steps(thought(text)) for text in texts)
    assert not differences(a, b, ignore=[*IDS, *TIMES]).same


# ------------------------------------------------------------------------------- smallest pieces


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"x": 1, "y": 2}, {"y": 2.0, "x": 1}, {}),
        ({"x": 1}, {"x": True}, {".x": (1, True)}),
        ({"x": {"y": [1, 2]}}, {"x": {"y": [1, 3]}}, {".x.y[1]": (2, 3)}),
        ({"x": None}, {}, {".x": (None, UNSET)}),
        ([1, 2, 3], [1, 3], {"[1]": (2, UNSET)}),
        ([1, 3], [0, 1, 3], {"[0]": (UNSET, 0)}),
        ([1], [[1]], {"[0]": (1, [1])}),
        ('{"x": 1, "y": 2}', '{"x": 1, "y": 3}', {".y": (2, 3)}),
        ('{"x": 1}', '{"x":1}', {"": ('{"x": 1}', '{"x":1}')}),
        ("{a", "{b", {"": ("{a", "{b")}),
        (2**70, float(2**70), {}),
    ],
)
def test_the_smallest_differing_piece_is_reported(a: Any, b: Any, expected: Any) -> None:
    results = {piece.path: (piece.a, piece.b) for piece in pieces(a, b, "", Ignoring())}
    assert results == expected


def test_values_may_be_nested_to_any_depth() -> None:
    a: Any = 1
    b: Any = 2
    for _ in range(20_000):
        a, b = [a], [b]
    (result,) = pieces(a, b, "", Ignoring())
    assert (result.a, result.b) == (1, 2)


# ----------------------------------------------------------------------------- what cannot be told


@pytest.mark.parametrize(
    ("a", "b", "differs", "unknown"),
    [
        (MASKED, "key", False, True),
        (MASKED, MASKED, False, True),
        (f"key {MASKED} of bob", "key abc of bob", False, True),
        (f"key {MASKED} of bob", "key abc of eve", True, False),
        (f"key {MASKED}", "no key", True, False),
        (f"long{CUT}", f"longer{CUT}", False, True),
        (f"long{CUT}", "longer", False, True),
        (f"long{CUT}", f"other{CUT}", True, False),
        ({"k": MASKED, "n": 1}, {"k": "x", "n": 2}, True, True),
        ({"a": 1, "$truncated": "nodes"}, {"a": 1, "b": 2}, False, True),
        ({"a": 1, "$truncated": "nodes"}, {"a": 2, "b": 2}, True, True),
        ({"$unencodable": "opaque"}, {"x": 1}, False, True),
        ([1, {"$truncated": "nodes"}], [1, 2, 3], False, True),
    ],
)
def test_masked_or_cut_values_cannot_be_compared(
    a: Any, b: Any, differs: bool, unknown: bool
) -> None:
    result = differences(changed(output=a), changed(output=b))
    back = differences(changed(output=b), changed(output=a))
    assert result.same is back.same is not differs
    assert result.certain is back.certain is not unknown


def test_an_ignore_pattern_does_not_match_inside_a_mark() -> None:
    result = differences(changed(output=f"a{CUT}"), changed(output="abc"), ignore=[r"\d+"])
    assert result.same
    assert not result.certain


def test_what_a_store_does_not_keep_cannot_be_compared() -> None:
    second = changed(input=..., output=..., status=...)
    for step in second["steps"]:
        step.get("tool_call", {}).pop("arguments", None)
        step.get("tool_result", {}).pop("output", None)
    result = differences(RUN, second)
    assert result.same
    assert [item.path for item in result.unknown] == [
        "input", "status", "output", "arguments", "result", "arguments", "result",
    ]  # fmt: skip
    assert result.equal_steps == 1


def test_steps_missing_from_an_incomplete_run_may_have_happened() -> None:
    broken = without_calls(metadata={"incomplete": True})
    result = differences(RUN, broken)
    assert result.same
    assert [(item.path, item.why) for item in result.unknown] == [
        ("step", "the run is incomplete, parts of it were not found")
    ] * 2
    assert not differences(broken, RUN).certain
    assert not differences(RUN, without_calls()).same


def test_what_a_collector_masked_cannot_be_compared() -> None:
    complete, hidden = rebuilt(SPANS), masked(RUN, ARGUMENTS, "****")
    for result in (diff(complete, hidden), diff(hidden, complete), diff(hidden, hidden)):
        assert result.same
        assert [item.path for item in result.unknown] == ["arguments", "arguments", "message"]
    assert diff(complete, complete).certain


def test_differences_are_json() -> None:
    result = differences(RUN, changed(output="else", steps=RUN["steps"][2:]))
    assert result.to_dict() == {
        "a": "tr_1",
        "b": "tr_1",
        "same": False,
        "changes": [{"path": "output", "a": RUN["output"], "b": "else"}],
        "steps": [
            {
                "kind": "lost",
                "type": "tool_call",
                "name": "search_web",
                "a_step": {"step_id": "step_001", "place": 1},
                "step": RUN["steps"][0],
                "result": RUN["steps"][1]["tool_result"],
            }
        ],
        "equal_steps": 2,
        "measures": [
            {"name": "steps", "a": 5, "b": 3, "differs": False},
            {"name": "tool_calls", "a": 2, "b": 1, "differs": False},
            {"name": "tokens", "a": 3200, "b": 3200, "differs": False},
            {"name": "cost_usd", "a": 0.0032, "b": 0.0032, "differs": False},
            {"name": "duration_ms", "a": 15000, "b": 15000, "differs": False},
        ],
        "unknown": [],
    }


# ---------------------------------------------------------------------------------- partners


def judged(trace_id: str, case: str | None = None, request: Any = ..., agent: str = "a") -> Any:
    members: Object = {"metadata": {"case_id": case}} if case is not None else {}
    if request is not ...:
        members["input"] = request
    document = {"trace_id": trace_id, "agent_id": agent, "steps": [], **members}
    return TraceView(ReasoningTrace.from_dict(document))


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ([judged("1", "x")], [judged("2", "y")], ["1 2"]),
        (
            [judged("1", "x"), judged("2", "y")],
            [judged("3", "y"), judged("4", "x")],
            ["1 4", "2 3"],
        ),
        ([judged("1", "x"), judged("2", "x")], [judged("3", "x")], ["1 3", "2 -"]),
        (
            [judged("1", request="x"), judged("2", request="y")],
            [judged("3", request="y")],
            ["1 -", "2 3"],
        ),
        ([judged("1", "x", "in")], [judged("2"), judged("3", request="in")], ["1 3", "- 2"]),
        ([judged("1", "x", "in")], [judged("2", "y", "in"), judged("3")], ["1 3", "- 2"]),
        ([judged("1", "x", "in")], [judged("2", "y"), judged("3", "z")], ["1 -", "- 2", "- 3"]),
        (
            [judged("1", request="in", agent="a"), judged("2", request="in", agent="b")],
            [judged("3", request="in", agent="b"), judged("4", request="in", agent="a")],
            ["1 4", "2 3"],
        ),
        (
            [judged("1", request="in", agent="old")],
            [judged("2", request="in", agent="new"), judged("3")],
            ["1 2", "- 3"],
        ),
        ([judged("1"), judged("2")], [judged("3")], ["1 3", "2 -"]),
        ([judged("1"), judged("2")], [judged("3", agent="b")], ["1 -", "2 -", "- 3"]),
        ([judged("1"), judged("2")], [judged("3", request="in")], ["1 3", "2 -"]),
        ([judged("1"), judged("2", request="in")], [judged("3", request="in")], ["1 -", "2 3"]),
        ([], [judged("3")], ["- 3"]),
    ],
)
def test_traces_of_the_same_case_or_with_the_same_input_are_compared(
    ours: list[Any], theirs: list[Any], expected: list[str]
) -> None:
    result = partners(ours, theirs, Ignoring())
    assert [
        " ".join(side.trace.trace_id if side is not None else "-" for side in (pair.a, pair.b))
        for pair in result
    ] == expected


def test_an_ignore_pattern_applies_to_inputs_too() -> None:
    ours = [judged("1", request="on 2026-01-01"), judged("2")]
    theirs = [judged("3", request="on 2026-02-02")]
    (first, _) = partners(ours, theirs, Ignoring(TIMES))
    assert first.b is theirs[0]
