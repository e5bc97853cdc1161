"""A framework, a client, a dialect and a store outside this package are found and work."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from agentool_otel.loading import load
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.conformance import check_all
from tests.examples.own_packages import command, installed
from tests.frameworks import ROOT

pytestmark = pytest.mark.thorough

EXAMPLES = ROOT / "examples"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which the framework is installed."""
    pytest.importorskip("opentelemetry.sdk")
    return installed("own_framework", tmp_path)


def test_an_unmodified_program_is_recorded(environ: dict[str, str], tmp_path: Path) -> None:
    command(
        environ, "run", "-q", "--", sys.executable, str(EXAMPLES / "own_framework" / "research.py")
    )
    [trace] = [item.to_dict() for item in load(tmp_path / "recordings")]
    assert trace["agent_id"] == "researcher"
    assert trace["output"] == "OpenTelemetry is a standard for telemetry."
    assert [step["type"] for step in trace["steps"]] == ["tool_call", "tool_result"]
    assert check_all(open_source(tmp_path / "recordings").spans()) == []


def test_doctor_lists_it(environ: dict[str, str]) -> None:
    frameworks = json.loads(command(environ, "doctor", "--json"))["frameworks"]
    assert ("tiny-agents", "1.0") in [
        (framework["name"], framework["installed"]) for framework in frameworks
    ]
    [own] = [framework for framework in frameworks if framework["name"] == "tiny-agents"]
    assert own["others"] == {}, "its own wrappers are nobody else's"


def test_a_client_is_recorded(tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.sdk")
    environ = installed("own_client", tmp_path)
    command(
        environ, "run", "-q", "--", sys.executable, str(EXAMPLES / "own_client" / "question.py")
    )
    [span] = open_source(tmp_path / "recordings").spans()
    assert span.name == "chat tiny-1"
    assert span.attributes["gen_ai.usage.input_tokens"] > 0
    assert "What is a span?" in str(span.attributes["gen_ai.input.messages"])
    assert check_all([span]) == []


def test_a_call_of_a_client_that_is_recorded_above_has_no_span(tmp_path: Path) -> None:
    """No registry of ours has to know the client."""
    pytest.importorskip("opentelemetry.sdk")
    environ = installed("own_client", tmp_path)
    program = tmp_path / "program.py"
    program.write_text(
        "import agentool_otel\n"
        "with agentool_otel.model_call('by hand'):\n"
        f"    exec(open({str(EXAMPLES / 'own_client' / 'question.py')!r}).read())\n"
    )
    command(environ, "run", "-q", "--", sys.executable, str(program))
    assert [span.name for span in open_source(tmp_path / "recordings").spans()] == ["chat by hand"]


def test_spans_of_a_dialect_are_read(tmp_path: Path) -> None:
    environ = installed("own_dialect", tmp_path)
    [line] = command(environ, "rebuild", str(EXAMPLES / "own_dialect" / "spans.json")).splitlines()
    trace = json.loads(line)
    assert (trace["agent_id"], trace["output"]) == ("wardrobe", "A coat.")
    assert [step["type"] for step in trace["steps"]] == ["tool_call", "tool_result"]
    assert trace["metrics"]["total_tokens"] == 53


def test_an_export_of_a_store_is_read(tmp_path: Path) -> None:
    environ = installed("own_store", tmp_path)
    export = str(EXAMPLES / "own_store" / "export.json")
    [line] = command(environ, "rebuild", export).splitlines()
    trace = json.loads(line)
    assert trace["agent_id"] == "wardrobe"
    assert trace["steps"][0]["tool_call"]["arguments"] == {"city": "Paris"}
    assert "2 spans" in command(environ, "validate", export)
