"""Checks 76 to 83: the files of ToolSmith."""

from __future__ import annotations

import copy
import socket
from collections import Counter
from typing import Any

import pytest

from agentool_otel import EvalCase, EvalResult, ReasoningTrace, ToolRegistry, ToolSpec, evaluate
from agentool_otel.converters import converter_for, from_agentool, to_agentool
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import canonical
from agentool_otel.semconv import gen_ai
from tests.seed_systems.exported import exported, through_commands
from tests.seed_systems.toolsmith_files import CATEGORIES, RUN, RUN_0_1, RUN_1_1, TASKS, TOOLS

Object = dict[str, Any]
RUNS = {"1.0": RUN, "1.1": RUN_1_1, "0.1": RUN_0_1}
LABEL = gen_ai.EVALUATION_SCORE_LABEL


def there_and_back(file: Object) -> str:
    return canonical(from_agentool(to_agentool(file), "toolsmith"))


def traces_of(run: Object) -> list[ReasoningTrace]:
    return [item for item in to_agentool(run) if isinstance(item, ReasoningTrace)]


def results_of(run: Object) -> list[EvalResult]:
    return [item for item in to_agentool(run) if isinstance(item, EvalResult)]


# --- tools


def test_check_76_tools_come_back_complete() -> None:
    assert there_and_back(TOOLS) == canonical(TOOLS)


def test_check_76_a_tool_is_a_tool_spec() -> None:
    [registry] = to_agentool(TOOLS)
    assert isinstance(registry, ToolRegistry)
    booking, cancelling, looking = (tool.spec for tool in registry.tools)
    assert booking.parameters == TOOLS["tools"][0]["inputSchema"]
    assert booking.returns == {"type": "object"}
    assert booking.metadata == {
        "side_effects": False,
        "toolsmith": {
            "sideEffects": "mock-only",
            "requiresConfirmation": True,
            "examples": ["Book me a train to Lyon."],
        },
    }
    assert isinstance(cancelling.metadata, dict)
    assert cancelling.metadata["side_effects"] is True
    assert looking.description == ""
    assert looking.parameters == {}


def test_check_76_any_tool_spec_can_be_a_tool_and_comes_back() -> None:
    spec = ToolSpec.from_dict(
        {
            "name": "search",
            "description": "",
            "parameters": {},
            "returns": None,
            "metadata": {"cost_tier": "free"},
            "owner": {"an": "unknown member"},
        }
    )
    file = from_agentool([spec], "toolsmith")
    assert to_agentool(file) == [spec]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("read-only", False),
        ("Mock-only", False),
        ("an external side effect: it books", True),
        ("no external side effects", None),
        ("mocked external side effect", None),
        ("runs without any external side effect", None),
        ("It has external side effects, doesn't it?", None),
        ("sends a mail", None),
    ],
)
def test_check_76_only_unambiguous_free_text_is_a_fact(text: str, said: bool | None) -> None:
    [registry] = to_agentool(changed(TOOLS, "tools.0.sideEffects", text))
    assert isinstance(registry, ToolRegistry)
    metadata = registry.tools[0].spec.metadata
    assert isinstance(metadata, dict)
    assert metadata.get("side_effects") is said


# --- tasks


def test_check_77_tasks_come_back_complete() -> None:
    assert there_and_back(TASKS) == canonical(TASKS)


def test_check_77_a_task_without_tool_expects_no_call() -> None:
    cases = [item.to_dict() for item in to_agentool(TASKS)]
    assert [case["assertions"][0] for case in cases] == [
        {"type": "contains_tool_call", "tool_name": "book_train"},
        {"type": "tool_call_count", "min_calls": 0, "max_calls": 0},
        {"type": "tool_call_count", "min_calls": 0, "max_calls": 0},
        {"type": "contains_tool_call", "tool_name": "cancel_train"},
    ]
    assert [assertion["property"] for assertion in cases[0]["assertions"][1:]] == TASKS["tasks"][0][
        "successCriteria"
    ]


def test_check_77_the_cases_judge_the_traces_as_toolsmith_did() -> None:
    plain = [
        {k: value for k, value in task.items() if k != "successCriteria"} for task in TASKS["tasks"]
    ]
    cases = [item for item in to_agentool({**TASKS, "tasks": plain}) if isinstance(item, EvalCase)]
    traces = traces_of(RUN)
    verdicts = [
        evaluated.passed
        for case, trace in zip(cases, traces, strict=True)
        for evaluated in evaluate([case], [trace])
    ]
    assert verdicts == [result["passed"] for result in RUN["results"]]


def test_check_77_any_case_that_expects_a_tool_can_be_a_task_and_comes_back() -> None:
    case = EvalCase.from_dict(
        {
            "case_id": "c",
            "description": "a case",
            "input": "Search!",
            "context": {},
            "assertions": [
                {"type": "latency", "max_ms": 5},
                {"type": "contains_tool_call", "tool_name": "search", "tool_args": {"q": 1}},
            ],
            "tags": ["x"],
            "difficulty": "hard",
        }
    )
    assert to_agentool(from_agentool([case], "toolsmith")) == [case]


# --- runs


@pytest.mark.parametrize("as_events", [False, True], ids=["spans", "events"])
@pytest.mark.parametrize("version", RUNS)
def test_check_78_a_run_comes_back_from_its_spans_and_events(version: str, as_events: bool) -> None:
    result = exported(to_agentool(RUNS[version]), as_events=as_events)
    back = from_agentool(result.documents, "toolsmith")
    assert canonical(back) == canonical(RUNS[version])


@pytest.mark.parametrize("version", RUNS)
def test_check_78_a_run_comes_back_from_what_the_commands_write(version: str) -> None:
    commands = through_commands(*to_agentool(RUNS[version]))
    kinds = [EvalResult if "assertion_results" in item else ReasoningTrace for item in commands]
    documents = [kind.from_dict(item) for kind, item in zip(kinds, commands, strict=True)]
    back = from_agentool(documents, "toolsmith")
    assert canonical(back) == canonical(RUNS[version])


@pytest.mark.parametrize("category", [*CATEGORIES, "passed", "a_category_to_come"])
def test_check_79_a_category_is_the_label_of_its_evaluation(category: str) -> None:
    run = copy.deepcopy(RUN)
    run["results"] = [{**run["results"][3], "failureCategory": category}]
    result = exported(to_agentool(run))
    labels = {
        judgement.attributes[LABEL] for judgement in result.judgements if judgement.name != WHOLE
    }
    assert labels == {category}
    assert canonical(from_agentool(result.documents, "toolsmith")) == canonical(run)


WHOLE = "evaluate composite_score"


def test_check_79_labels_are_few_enough_to_count_by() -> None:
    """The label is a word of its own, apart from the explanation: a dimension of a metric."""
    counted = Counter(
        judgement.attributes[LABEL]
        for judgement in exported(to_agentool(RUN)).judgements
        if judgement.name != WHOLE
    )
    assert counted == {"passed": 2, "unnecessary_tool_call": 1, "wrong_tool": 1}


@pytest.mark.parametrize("version", RUNS)
def test_check_80_runs_of_every_version_come_back(version: str) -> None:
    assert there_and_back(RUNS[version]) == canonical(RUNS[version])


def test_check_80_text_of_a_model_is_the_output() -> None:
    assert [trace.output for trace in traces_of(RUN_1_1)] == ["Take the train at nine.", ""]


def test_check_80_the_words_of_the_first_version_are_labels_too() -> None:
    labels = [result.assertion_results[0].extra["label"] for result in results_of(RUN_0_1)]
    assert labels == ["NO_TOOL_SELECTED", "passed"]


def test_check_80_the_error_of_the_first_version_is_one_too() -> None:
    failed = changed(RUN_0_1, "results.0.failureReason", "UNKNOWN_ERROR")
    assert [trace.status for trace in traces_of(failed)] == ["error", "success"]


@pytest.mark.parametrize("word", ["none", "None"])
def test_check_81_a_tool_called_none_was_not_selected(word: str) -> None:
    run = changed(RUN_0_1, "results.1.actualTool", word)
    assert not traces_of(run)[1].tool_calls()
    assert there_and_back(run) == canonical(run)


def test_check_81_what_is_no_time_is_not_made_one() -> None:
    run = changed(RUN, "createdAt", "yesterday")
    assert {"started_at", "synthesized"}.isdisjoint(
        name
        for trace in traces_of(run)
        for name in (*trace.to_dict(), *trace.to_dict()["metadata"])
    )
    assert not any("evaluated_at" in result.to_dict() for result in results_of(run))
    assert there_and_back(run) == canonical(run)


def test_check_81_a_selection_is_no_execution() -> None:
    names = {span.name for span in exported(to_agentool(RUN)).spans}
    assert names == {
        "invoke_agent keyword-mock-agent",
        "evaluate contains_tool_call",
        "evaluate tool_call_count",
        WHOLE,
    }
    for trace in traces_of(RUN):
        assert not trace.tool_results()
        assert all(step.extra["executed"] is False for step in trace.steps if step.tool_call)


def test_check_81_no_time_is_invented() -> None:
    for trace in traces_of(RUN):
        members = trace.to_dict()
        assert members["started_at"] == RUN["createdAt"]
        assert members["metadata"]["synthesized"] == ["started_at"]
        assert "finished_at" not in members
        assert "metrics" not in members
        assert not any("timestamp" in step for step in members["steps"])
    agents = [
        span for span in exported(to_agentool(RUN)).spans if span.name.startswith("invoke_agent")
    ]
    assert {(agent.end_ns or 0) - (agent.start_ns or 0) for agent in agents} == {0}


def test_check_82_the_score_follows_from_what_was_exported() -> None:
    judged = [
        judgement for judgement in exported(to_agentool(RUN)).judgements if judgement.name != WHOLE
    ]
    scores = [item.attributes[gen_ai.EVALUATION_SCORE_VALUE] for item in judged]
    labels = Counter(item.attributes[LABEL] for item in judged)
    labels.pop("passed")
    assert round(sum(scores) / len(scores) * 100, 2) == RUN["summary"]["score"]
    assert labels == RUN["summary"]["failureCategories"]


def test_check_82_every_trace_has_the_breakdown() -> None:
    for result in exported(to_agentool(RUN)).rebuilt:
        assert isinstance(result.trace.metadata, dict)
        run = result.trace.metadata["toolsmith_run"]["run"]
        assert run["summary"]["scoreBreakdown"] == RUN["summary"]["scoreBreakdown"]


def test_check_82_the_confusion_matrix_follows_from_what_was_exported() -> None:
    matrix: Counter[tuple[str, str]] = Counter()
    for match in exported(to_agentool(RUN)).rebuilt:
        [result] = match.results
        expected = result.assertion_results[0].extra.get("tool_name", "none")
        selected = next((call.name for call in match.trace.tool_calls()), "none")
        matrix[expected, selected] += 1
    assert matrix == {
        ("book_train", "book_train"): 1,
        ("none", "none"): 1,
        ("none", "look_up"): 1,
        ("cancel_train", "book_train"): 1,
    }


# --- validation


def changed(file: Object, path: str, value: Any = None) -> Object:
    """Return a copy of a file with another value at a path; without one where it is `DELETED`."""
    result = copy.deepcopy(file)
    *parent, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inner: Any = result
    for name in parent:
        inner = inner[name]
    if value is DELETED:
        del inner[last]
    else:
        inner[last] = value
    return result


DELETED = object()
BAD = [
    (changed(TOOLS, "name", DELETED), "expected non-empty string, got nothing - at $.name"),
    (changed(TOOLS, "version", ""), "expected non-empty string, got an empty one - at $.version"),
    (changed(TOOLS, "tools", []), "expected non-empty array, got an empty one - at $.tools"),
    (
        changed(TOOLS, "safety.network", "no"),
        "expected boolean, got str 'no' - at $.safety.network",
    ),
    (changed(TOOLS, "tools.1", 5), "expected object, got int 5 - at $.tools[1]"),
    (changed(TOOLS, "tools.1.name", DELETED), "got nothing - at $.tools[1].name"),
    (
        changed(TOOLS, "tools.2.name", "book_train"),
        "expected a name of its own, got 'book_train', which is also that of $.tools[0] - at "
        "$.tools[2].name",
    ),
    (
        changed(TOOLS, "tools.0.examples.0", 1),
        "expected string, got int 1 - at $.tools[0].examples[0]",
    ),
    (changed(TOOLS, "tools.0.inputSchema", "x"), "expected object, got str 'x' - at"),
    (changed(TASKS, "tasks.0.prompt", DELETED), "got nothing - at $.tasks[0].prompt"),
    (changed(TASKS, "tasks.0.expectedTool", None), "got null - at $.tasks[0].expectedTool"),
    (changed(TASKS, "tasks.3.id", "bye"), "which is also that of $.tasks[2] - at $.tasks[3].id"),
    (changed(TASKS, "tasks.0.successCriteria", "x"), "expected array, got str 'x' - at"),
    (changed(TASKS, "tasks.0.successCriteria.1", 2), "at $.tasks[0].successCriteria[1]"),
    (changed(RUN, "results.0.taskId", DELETED), "got nothing - at $.results[0].taskId"),
    (changed(RUN, "results.1.passed", 1), "expected boolean, got int 1 - at $.results[1].passed"),
    (changed(RUN, "results.0.toolCall.toolName", 1), "at $.results[0].toolCall.toolName"),
    (changed(RUN, "results.3.taskId", "bye"), "which is also that of $.results[2]"),
    (changed(RUN, "id", ""), "expected non-empty string, got an empty one - at $.id"),
]


@pytest.mark.parametrize(("file", "message"), BAD, ids=range(len(BAD)))
def test_check_83_an_invalid_file_is_an_error_with_a_place(file: Object, message: str) -> None:
    with pytest.raises(DecodeError) as raised:
        to_agentool(file, "toolsmith")
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("0.input", {"a": 1}, "expected string, got object of 1 - at $[0].input"),
        ("1.passed", None, "expected boolean, got null - at $[1].passed"),
        ("1.assertion_results", [], "got an empty one - at $[1].assertion_results"),
        (
            "1.assertion_results.0.assertion_type",
            "latency",
            "not one of ToolSmith's - at $[1].assertion_results[0].assertions",
        ),
    ],
)
def test_check_83_an_invalid_run_is_an_error_with_a_place(
    path: str, value: Any, message: str
) -> None:
    written = {"documents": [item.to_dict() for item in to_agentool(RUN)]}
    edited = changed(written, f"documents.{path}", value)["documents"]
    documents = [
        ReasoningTrace.from_dict(item) if "steps" in item else EvalResult.from_dict(item)
        for item in edited
    ]
    with pytest.raises(DecodeError) as raised:
        from_agentool(documents, "toolsmith")
    assert message in str(raised.value)


def test_check_83_a_file_is_recognised_by_its_list() -> None:
    run = {**RUN, "tools": {"of": "a version to come"}}
    assert converter_for(run).name == "toolsmith"
    assert there_and_back(run) == canonical(run)


def test_check_83_validation_is_local(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for file in (TOOLS, TASKS, RUN):
        assert converter_for(file).name == "toolsmith"
        to_agentool(file)


def test_check_83_what_the_spec_allows_and_toolsmith_does_not_is_refused() -> None:
    spec = ToolSpec(name="twice", description="", parameters={})
    with pytest.raises(DecodeError, match=r"a name of its own.*\$\[1\].name"):
        from_agentool([spec, spec], "toolsmith")
    case = EvalCase(case_id="c", input="x", assertions=[])
    with pytest.raises(DecodeError, match=r"contains_tool_call.*\$\[0\].assertions"):
        from_agentool([case], "toolsmith")
    with pytest.raises(DecodeError, match="toolsmith_run"):
        from_agentool([ReasoningTrace(trace_id="t", steps=[])], "toolsmith")
