"""The runtime of Agent Tool in the examples: its work, its exported spans, and the objects read
back.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.integrations.agent_tool.documents.checking import findings, identify
from agentool_otel.integrations.agent_tool.events.from_spans import objects_in_spans
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.captured import AgentTraces, captured_traces

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "agent_tool"
ENDS = {
    "call_1": "schema_not_loaded",
    "call_2": None,
    "call_3": None,
    "call_4": "schema_validation_failed",
    "call_5": "invalid_arguments",
    "call_6": "unknown_tool",
    "call_7": None,
    "call_8": "approval_rejected",
    "call_9": None,
    "call_10": None,
    "call_11": "timeout",
    "call_12": "permission_denied",
    "call_13": "sibling_canceled",
    "call_14": "execution_failed",
    "call_15": "sibling_canceled",
    "call_16": "canceled",
}


@pytest.fixture(scope="module")
def ran() -> Iterator[tuple[AgentTraces, list[Any]]]:
    """The spans of the program, and the results that its runtime gave."""
    pytest.importorskip("opentelemetry.sdk")
    sys.path.insert(0, str(EXAMPLE))
    try:
        program = import_module("every_way")
        with captured_traces() as traces:
            results = program.main()
            yield traces, results
    finally:
        sys.path.remove(str(EXAMPLE))
        for name in ("every_way", "tool_runtime"):
            sys.modules.pop(name, None)


def calls(ran: Any) -> dict[str, Any]:
    """Return the spans of the tools, by the id of their call."""
    spans = (span.attributes for span in ran[0].spans() if span.name.startswith("execute_tool"))
    return {span["gen_ai.tool.call.id"]: span for span in spans}


def test_every_call_ends_as_it_should_and_is_one_span(ran: Any) -> None:
    assert {name: call.get("error.type") for name, call in calls(ran).items()} == ENDS
    error_classes = {
        item["invocation_id"]: item.get("error", {}).get("error_class") for item in ran[1]
    }
    assert error_classes == {f"inv_{name}": error for name, error in ENDS.items()}


def test_the_recording_rebuilds_to_one_trajectory(ran: Any) -> None:
    trace = ran[0].trace
    assert trace.agent_id == "assistant"
    assert [tool_call.id for tool_call in trace.tool_calls()] == [*ENDS]
    assert {tool_result.call_id for tool_result in trace.tool_results()} == ENDS.keys()
    [read] = [tool_call for tool_call in trace.tool_calls() if tool_call.id == "call_3"]
    assert read.arguments == {"path": "/notes/today"}


def test_the_minimal_example_of_the_readme_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    text = (EXAMPLE / "README.md").read_text("utf-8")
    [least] = [
        match for match in re.findall(r"(?:^(?: {4}.*)?\n)+", text, re.M) if "instrument()" in match
    ]
    program = [sys.executable, "-c", textwrap.dedent(least)]
    environ = {**os.environ, "AGENTOOL_DIR": str(tmp_path), "AGENTOOL_QUIET": "1"}
    subprocess.run(program, env=environ, check=True, timeout=60)
    [span] = open_source(str(tmp_path)).spans()
    assert span.name == "execute_tool weather"
    assert [findings(obj) for obj in objects_in_spans([span])]


def test_results_refer_to_the_spans_they_are_on(ran: Any) -> None:
    ids = {span.attributes.get("agenttool.invocation.id"): span for span in ran[0].spans()}
    for result in ran[1]:
        [reference] = result["telemetry_refs"]
        span = ids[result["invocation_id"]]
        assert (reference["trace_id"], reference["span_id"]) == (span.trace_id, span.span_id)


def test_the_objects_come_back_and_are_valid(ran: Any) -> None:
    objects = list(objects_in_spans(ran[0].spans()))
    assert all(findings(item) == [] for item in objects)
    kinds = {getattr(identify(item), "__name__", None) for item in objects}
    assert kinds >= {"Invocation", "Result", "Hook", "InputMutation", "PermissionDecision"}
    assert kinds >= {"Progress", "ResultPersistence", "ToolDeclaration", "Event"}
    results = {
        item["invocation_id"]: item for item in objects if identify(item) is identify(ran[1][0])
    }
    for result in ran[1]:
        if result["redaction_state"] == "none":
            values = {name: value for name, value in result.items() if name != "telemetry_refs"}
            assert results[result["invocation_id"]] == values


def test_waits_mutations_and_large_results_are_shown(ran: Any) -> None:
    spans = calls(ran)
    assert spans["call_7"]["agenttool.approval_ms"] >= 10
    assert spans["call_3"]["agenttool.input.mutated_by"] == ["hook"]
    assert spans["call_9"]["agenttool.result.size_bytes"] == 1000
    assert spans["call_16"]["agenttool.progress.count"] >= 1


def test_what_is_sensitive_or_redacted_is_in_no_byte(ran: Any) -> None:
    document = ran[0]._spans.document()
    assert b"DE02-1203-0000" not in document
    assert b"48,213.77" not in document
    assert calls(ran)["call_10"]["agenttool.withheld"] == "redacted"
