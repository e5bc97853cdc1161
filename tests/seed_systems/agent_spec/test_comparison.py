"""Checks 62, 63 and 74: one specification in several runtimes, compared by their recordings."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.cli import main
from agentool_otel.cli._runs import Runs
from agentool_otel.evaluation.comparison import Comparison
from agentool_otel.integrations.agent_spec.instrumentor.listener import listener
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from tests.click_runner import CliRunner
from tests.seed_systems.agent_spec.runtimes import EXAMPLE, ROOT, example, needed
from tests.seed_systems.agent_spec.specs import agent, config, part, span

QUESTIONS = 1_000


RUNTIMES = sorted(example().RUNTIMES)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The recording of all runtimes that are installed."""
    folder = str(tmp_path_factory.mktemp("recorded"))
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "OPENAI_"))}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(EXAMPLE / "ask.py")],
        env={**environ, "AGENTOOL_DIR": folder, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_check_62_each_runtime_gives_a_trajectory_for_each_question(
    runtime: str, request: pytest.FixtureRequest
) -> None:
    needed(runtime)
    recorded = request.getfixturevalue("recorded")
    rebuilt = [run.rebuilt for run in Runs(recorded).runs() if run.rebuilt is not None]
    runs = [item for item in rebuilt if item.framework() == runtime]
    requests = [run for run in runs if run.trace.tool_calls()]
    assert len(requests) == len(example().QUESTIONS)
    for item in requests:
        [call] = item.trace.tool_calls()
        assert call.name == "get_weather"
        assert item.trace.status == "success"
        assert item.models() in (["gpt-5"], [])


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_check_63_the_table_comes_from_the_spans_alone(
    runtime: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    needed(runtime)
    recorded, figures = request.getfixturevalue("recorded"), tmp_path / "figures.jsonl"
    args = [
        "compare",
        recorded,
        "--cases",
        str(EXAMPLE / "cases.json"),
        "--match",
        "contains",
        "-o",
        str(figures),
    ]
    shown = CliRunner().invoke(main, args)
    assert shown.exit_code == 0
    assert runtime in shown.stdout
    rows = {load["framework"]: load for load in map(json.loads, figures.read_text().splitlines())}
    row = rows[runtime]
    assert (row["runs"], row["correct"], row["errors"], row["tool_calls"]) == (2, 1.0, 0, 1.0)
    assert row["latency"]["p95_s"] >= row["latency"]["median_s"] > 0
    assert row["tokens"] > 0 or "tokens" in row["unsaid"]


# ------------------------------------------------------------------------------------- in bulk


def spans_of(question: int, framework: str) -> list[SpanRecord]:
    """Return the spans of a question: an agent, two model calls and a tool."""
    trace_id = f"{question + 1:032x}"
    root = f"{question + 1:016x}"
    scope = f"agentool_otel.instrumentation.{framework}"

    def record(n: int, operation: str, name: str, **attributes: Any) -> SpanRecord:
        return SpanRecord(
            trace_id,
            root if n == 0 else f"{(question + 1) * 16 + n + 2**60:016x}",
            None if n == 0 else root,
            f"{operation} {name}",
            start_ns=10**18 + n,
            end_ns=10**18 + 10**6 * (question + 1) - n,
            attributes={"gen_ai.operation.name": operation, **attributes},
            scope=scope,
        )

    tokens = {"gen_ai.usage.input_tokens": 7, "gen_ai.usage.output_tokens": 3}
    return [
        record(0, "invoke_agent", "weather", **{"gen_ai.agent.name": "weather"}),
        record(1, "chat", "gpt-5", **{"gen_ai.request.model": "gpt-5", **tokens}),
        record(2, "execute_tool", "get_weather", **{"gen_ai.tool.name": "get_weather"}),
        record(3, "chat", "gpt-5", **{"gen_ai.request.model": "gpt-5", **tokens}),
    ]


def questions(count: int) -> Iterator[SpanRecord]:
    for n in range(count):
        yield from spans_of(n, ("crewai", "openai_agents")[n % 2])


def test_check_74_a_thousand_questions_are_compared_in_a_few_megabytes() -> None:
    def held_by(count: int) -> int:
        comparison = Comparison()
        tracemalloc.start()
        for rebuilt in rebuild(questions(count)):
            comparison.add(rebuilt.trace, rebuilt)
        one, second = comparison.groups()
        assert one.runs + second.runs == count
        assert (one.tokens, one.tool_calls) == (20, 1)
        result, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return result

    held_by(10)  # what is loaded once
    few, many = held_by(QUESTIONS // 10), held_by(QUESTIONS)
    assert many - few < 2_000 * QUESTIONS  # bytes


def test_check_74_a_thousand_runs_leave_nothing_behind(attached: Any) -> None:
    pytest.importorskip("pyagentspec", reason="pyagentspec is not installed")
    attached.without_content()
    component, model = agent(), config()
    begun: list[Any] = []
    for n in range(QUESTIONS):
        with part("Trace")(), span("AgentExecutionSpan", agent=component) as item:
            if n % 100 == 0:
                begun.append(weakref.ref(listener._open.get(item.id)))
            with span("LlmGenerationSpan", llm_config=model):
                pass
    assert len(attached.finished()) == 3 * QUESTIONS
    assert len(listener._open) == 0
    gc.collect()
    assert [item() for item in begun[:-1]] == [None] * (len(begun) - 1)
    attached.forget()
