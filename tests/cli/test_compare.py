"""`compare`: the table of several frameworks, from recordings only."""

from __future__ import annotations

import json
import statistics
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.evaluation.comparison import Comparison
from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.statuses import FAILED_STATUSES
from agentool_otel.reading.rebuild.frameworks import framework_of
from agentool_otel.reading.rebuild.tree import Node
from tests.cli.conftest import Invoke

OURS = "agentool_otel.instrumentation"
Row = dict[str, Any]


def document(n: int, **members: Any) -> Row:
    metrics = {"total_duration_ms": 100 + n, "total_tokens": 10, "tool_call_count": 1}
    names = {"trace_id": f"run-{n}", "status": "success", "steps": [], "metrics": metrics}
    return {**names, "agent_id": "one", "input": f"question {n}", **members}


def rows(
    invoke: Invoke, *documents: Row, args: tuple[object, ...] = ("--by", "agent")
) -> list[Row]:
    """Return the figures of documents, a row for each group."""
    Path("runs.jsonl").write_text("".join(json.dumps(item) + "\n" for item in documents))
    invoke("compare", "runs.jsonl", *args, "-o", "figures.jsonl")
    return [json.loads(line) for line in Path("figures.jsonl").read_text().splitlines()]


def span(name: str, operation: str, scope: str, **attributes: Any) -> SpanRecord:
    names = {"gen_ai.operation.name": operation, **attributes}
    return SpanRecord(
        "a" * 32, "b" * 16, None, name, start_ns=1, end_ns=2, attributes=names, scope=scope
    )


def test_figures_are_those_of_each_group(invoke: Invoke) -> None:
    one, second = rows(
        invoke,
        document(0),
        document(50),
        document(100, status="error"),
        document(3, agent_id="other", metrics={"total_duration_ms": 7}),
    )
    assert (one["agent"], one["runs"], one["errors"], one["tokens"]) == ("one", 3, 1, 10)
    assert one["latency"] == {"median_s": 0.15, "p95_s": 0.2, "mean_s": 0.15, "sd_s": 0.05}
    assert (second["tokens"], second["tool_calls"], second["latency"]["sd_s"]) == (None, None, None)
    assert second["unsaid"] == {"tokens": 1, "tool calls": 1}


def test_missing_figures_are_named_below_the_table(invoke: Invoke) -> None:
    rows(invoke, document(0), document(1, metrics={}))
    shown = invoke("compare", "runs.jsonl", "--by", "agent").stdout
    assert "one: tokens not said by 1 of 2 runs" in shown


@pytest.mark.parametrize("number", [10**400, float("nan"), float("inf"), -(10**400)])
def test_numbers_that_cannot_be_added_are_ignored(number: float, invoke: Invoke) -> None:
    odd = dict.fromkeys(("total_duration_ms", "total_tokens", "tool_call_count"), number)
    [row] = rows(invoke, document(0), document(1, metrics=odd))
    assert (row["tokens"], row["tool_calls"], row["latency"]["mean_s"]) == (10, 1, 0.1)
    assert row["unsaid"] == {"latency": 1, "tokens": 1, "tool calls": 1}


def test_a_run_inside_another_counts_with_that(invoke: Invoke) -> None:
    inner = document(1, agent_id="two", metadata={"parent_trace_id": "run-0"})
    results = [{"type": "tool_result", "tool_result": {"error": "no network"}}]
    inner["steps"] = [{"step_id": "s", **result} for result in results]
    [row] = rows(invoke, inner, document(0))
    assert (row["agent"], row["runs"], row["tokens"], row["tool_errors"]) == ("one", 1, 20, 1)
    assert row["latency"]["mean_s"] == 0.1


def test_runs_around_each_other_are_counted_all_the_same(invoke: Invoke) -> None:
    circle = [document(n, metadata={"parent_trace_id": f"run-{1 - n}"}) for n in (0, 1)]
    assert sum(row["runs"] for row in rows(invoke, *circle)) in (1, 2)


def write_cases(*numbers: int) -> None:
    cases = [
        {
            "case_id": f"c{n}",
            "input": f"question {n}",
            "assertions": [{"type": "output_contains", "text": "yes"}],
        }
        for n in numbers
    ]
    Path("cases.json").write_text(json.dumps(cases))


def test_cases_give_the_share_of_correct_runs(invoke: Invoke) -> None:
    write_cases(0, 1)
    messages = [document(0, output="yes"), document(1, output="no"), document(2, output="yes")]
    [row] = rows(invoke, *messages, args=("--by", "agent", "--cases", "cases.json"))
    assert (row["passed"], row["failed"], row["correct"]) == (1, 1, 0.5)
    assert "1/2" in invoke("compare", "runs.jsonl", "--cases", "cases.json").stdout


def test_runs_without_a_case_and_cases_without_a_run_are_named(invoke: Invoke) -> None:
    write_cases(0, 1)
    messages = [document(0, output="yes"), document(7), document(1, output="yes", agent_id="two")]
    one, _ = rows(invoke, *messages, args=("--by", "agent", "--cases", "cases.json"))
    assert (one["cases"], one["caseless"]) == (1, 1)
    shown = invoke("compare", "runs.jsonl", "--by", "agent", "--cases", "cases.json")
    assert "one: no case for 1 of 2 runs" in shown.stdout
    assert "one: no run for 1 of 2 cases" in shown.stdout
    assert "two: no run for 1 of 2 cases" in shown.stdout
    assert "--match contains" in shown.stderr
    assert "no case" not in invoke("compare", "runs.jsonl", "--by", "agent").stdout


def test_assertions_alone_are_about_every_run(invoke: Invoke) -> None:
    Path("cases.json").write_text(json.dumps([{"type": "output_contains", "text": "yes"}]))
    messages = [document(0, output="yes"), document(1, output="no")]
    [row] = rows(invoke, *messages, args=("--by", "agent", "--cases", "cases.json"))
    assert (row["correct"], row["caseless"]) == (0.5, 0)
    shown = invoke("compare", "runs.jsonl", "--by", "agent", "--cases", "cases.json")
    assert "no run" not in shown.stdout


def test_a_rule_without_cases_is_refused(invoke: Invoke) -> None:
    Path("runs.jsonl").write_text(json.dumps(document(0)))
    shown = invoke("compare", "runs.jsonl", "--match", "contains")
    assert shown.exit_code == 2
    assert "--cases FILE" in shown.stderr


def test_a_run_that_two_recordings_hold_counts_once(invoke: Invoke) -> None:
    rows(invoke, document(0), document(1))
    invoke("compare", "runs.jsonl", "runs.jsonl", "--by", "agent", "-o", "figures.jsonl")
    row = json.loads(Path("figures.jsonl").read_text())
    assert (row["runs"], row["tokens"], row["tool_calls"]) == (2, 10, 1)


@pytest.mark.parametrize("status", sorted(FAILED_STATUSES))
def test_a_run_whose_span_is_an_error_has_failed(status: str, invoke: Invoke) -> None:
    [row] = rows(invoke, document(0), document(1, status=status))
    assert row["errors"] == 1


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=60))
def test_latencies_are_those_of_the_textbook(durations: list[int]) -> None:
    comparison = Comparison("agent")
    for n, ms in enumerate(durations):
        value = document(n, metrics={"total_duration_ms": ms})
        comparison.add(ReasoningTrace.from_dict(value), None)
    [group] = comparison.groups()
    latency = group.latency
    assert latency is not None
    seconds = sorted(ms / 1000 for ms in durations)
    assert latency.p95_s == seconds[ceil(0.95 * len(seconds)) - 1]
    assert latency.median_s == pytest.approx(statistics.median(seconds))
    assert seconds[0] <= latency.mean_s + 1e-9
    assert (latency.sd_s is None) == (len(seconds) == 1)


@pytest.mark.parametrize(
    ("scope", "name"),
    [
        (f"{OURS}.openai_agents", "openai-agents"),
        (f"{OURS}.crewai.models", "crewai"),
        ("openinference.instrumentation.llama_index", "llama-index"),
        ("opentelemetry.instrumentation.genai.google_adk", "google-adk"),
        ("opentelemetry.instrumentation.haystack", "haystack"),
        ("agent_framework", "agent-framework"),
        ("autogen-core", "autogen"),
        ("agentool_otel", "agentool-otel"),
        ("", None),
        (f"{OURS}.agent_spec", None),
    ],
)
def test_a_framework_is_identified_by_span_scope(scope: str, name: str | None) -> None:
    node = Node(span("invoke_agent a", "invoke_agent", scope))
    assert framework_of([node]) == name


@pytest.mark.parametrize(
    ("scopes", "name"),
    [
        (["invoke_agent agentool_otel", f"chat {OURS}.openai"], "openai"),
        (["invoke_agent agentool_otel", f"chat {OURS}.anthropic", "chat x"], "anthropic"),
        (["invoke_agent agentool_otel", "chat agentool_otel"], "agentool-otel"),
        (["invoke_agent agentool_otel", "execute_tool agentool_otel"], "agentool-otel"),
        (["chat opentelemetry.instrumentation.openai_v2"], "openai"),
        (["execute_tool agentool_otel", f"chat {OURS}.openai"], "openai"),
        (["invoke_agent agentool_otel", "invoke_agent crewai", f"chat {OURS}.openai"], "crewai"),
        (["invoke_agent ", f"chat {OURS}.openai"], None),
        ([f"invoke_agent {OURS}.agent_spec", f"chat {OURS}.openai"], None),
    ],
)
def test_a_program_without_a_framework_goes_by_its_client(
    scopes: list[str], name: str | None
) -> None:
    nodes = [
        Node(span(f"{operation} a", operation, scope))
        for operation, _, scope in (scope.partition(" ") for scope in scopes)
    ]
    assert framework_of(nodes) == name


def test_our_recordings_name_a_framework_and_replayed_documents_none(
    invoke: Invoke, recording: Path
) -> None:
    invoke("compare", recording, "-o", "recorded.jsonl")
    assert json.loads(Path("recorded.jsonl").read_text())["framework"] == "agentool-otel"
    Path("documents.jsonl").write_text(invoke("rebuild", recording).stdout)
    invoke("export", "documents.jsonl", "-o", "replayed.jsonl")
    invoke("compare", "replayed.jsonl", "-o", "figures.jsonl")
    assert json.loads(Path("figures.jsonl").read_text())["framework"] in (None, "(unknown)")


def test_agent_spec_names_its_runtime(invoke: Invoke) -> None:
    runtime = {"agentspec.runtime": "wayflow", "gen_ai.agent.name": "a"}
    value = span("invoke_agent a", "invoke_agent", f"{OURS}.agent_spec", **runtime)
    [rebuilt] = rebuild([value])
    assert rebuilt.framework() == "wayflow"


def test_no_figure_is_cut_where_the_terminal_is_narrow(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    rows(invoke, document(0, agent_id="a name of some length"))
    shown = invoke("compare", "runs.jsonl", "--by", "agent").stdout
    assert "…" not in shown
    assert "a name of some length" in shown


def test_nothing_to_compare_is_reported(invoke: Invoke) -> None:
    Path("runs.jsonl").write_text("")
    assert "no runs to compare among 0 spans" in invoke("compare", "runs.jsonl").stderr
    rows(invoke, document(0))
    shown = invoke("compare", "runs.jsonl", "--agent", "nobody").stderr
    assert "no runs to compare: 1 run not selected" in shown
