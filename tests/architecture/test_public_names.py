"""The public names of the package and of every folder in it."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import agentool_otel

TOP = """
    AgentRun AgentoolError Assertion AssertionResult EmbeddingsCall EvalCase EvalResult ModelCall
    ReasoningTrace Rebuilt RegisteredTool RetrievalCall Step ToolCall ToolRegistry ToolResult
    ToolSpec TraceMetrics __version__ agent embeddings evaluate flush instrument load model_call
    rebuild replay retrieval run score session status step tool uninstrument
"""
FOLDERS = {
    "capture": "AgentRun agent carry child_environment run session step tool tool_spec",
    "conformance": "Violation assert_conformant check check_all",
    "dialects": """
        Confidence Deferred Dialect GatheringDialect Judgement Reader Signs Ties WritingDialect
        Written classify dialects gathering_dialects judge writing_dialect
    """,
    "evaluation": """
        Answer Call Check Claim JudgeCheck JudgedTrace NoVerdict OpenAIJudge Question TraceDiff
        Verdict assert_trace diff evaluate failed not_evaluated passed
    """,
    "formats": "Converted Format Framing Loss Writer format_named formats words",
    "instrument": "flush instrument status uninstrument",
    "rebuild": "Fidelity Prices Rebuilt load rebuild",
    "sources": "Census Source UndecodedSpan by_trace open_source undecoded",
}


def test_the_top_level_has_exactly_these_names() -> None:
    assert sorted(agentool_otel.__all__) == sorted(TOP.split())


@pytest.mark.parametrize("name", TOP.split())
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(agentool_otel, name) is not None


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_has_exactly_these_names(folder: str) -> None:
    module = import_module(f"agentool_otel.{folder}")
    assert sorted(module.__all__) == sorted(FOLDERS[folder].split())


@pytest.mark.parametrize(
    "folder", [*FOLDERS, "emit", "export", "model", "providers", "semconv", "cli"]
)
def test_every_folder_explains_itself(folder: str) -> None:
    assert import_module(f"agentool_otel.{folder}").__doc__


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluate_everything'"):
        agentool_otel.evaluate_everything  # noqa: B018


@pytest.mark.parametrize(
    ("module", "call"),
    [("instrument.base", "instrument(include=[])"), ("rebuild.tree", "rebuild([])")],
)
def test_a_function_can_be_called_after_the_subpackage_of_its_name_was_imported(
    tmp_path: Path, module: str, call: str
) -> None:
    code = f"import agentool_otel, agentool_otel.{module} as inner; agentool_otel.{call}"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
