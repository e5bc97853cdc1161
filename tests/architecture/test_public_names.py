"""The public names of the package and of every folder in it."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import agentool_otel

PACKAGE = Path(agentool_otel.__file__).parent
TOP = """
    AgentRun AgentoolError Assertion AssertionResult EmbeddingsCall EvalCase EvalResult ModelCall
    ReasoningTrace Rebuilt RegisteredTool RetrievalCall Step ToolCall ToolRegistry ToolResult
    ToolSpec TraceMetrics __version__ agent embeddings evaluate flush instrument load model_call
    rebuild replay retrieval run score session status step tool uninstrument
"""
FOLDERS = {
    "tracing.capture": """
        AgentRun agent bind_context child_environment run session step tool tool_spec
    """,
    "testing.conformance": "Violation assert_conformant check check_all",
    "converters": """
        Conversion Converter convert converter_for converter_named converters from_agentool
        to_agentool
    """,
    "dialects": """
        Confidence Content LazyJson Dialect LinkingDialect Match Reader Markers TraceLinks
        WritingDialect WrittenSpan classify dialects linking_dialects match_dialect writing_dialect
    """,
    "evaluation": """
        Answer Call Check Claim JudgeCheck TraceView NoVerdict OpenAIJudge Question TraceDiff
        Verdict assert_trace diff emit_results evaluate failed not_evaluated passed
    """,
    "reading.formats": "Converted Format Framing Loss Writer format_named formats loss_sentences",
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


@pytest.mark.parametrize("folder", sorted(path.parent for path in PACKAGE.rglob("__init__.py")))
def test_every_folder_explains_itself(folder: Path) -> None:
    name = ".".join(folder.relative_to(PACKAGE.parent).parts)
    assert import_module(name).__doc__


@pytest.mark.parametrize("folder", sorted(path.parent for path in PACKAGE.rglob("__init__.py")))
def test_what_a_folder_lists_is_in_it(folder: Path) -> None:
    module = import_module(".".join(folder.relative_to(PACKAGE.parent).parts))
    members = {
        name for item in getattr(module, "__all__", ()) for name in dir(getattr(module, item))
    }
    target = {path.stem for path in folder.iterdir()} | members
    listed = re.findall(r"^ *([a-z_]+)/? {2,}\S", module.__doc__ or "", re.M)
    assert not set(listed) - target


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evaluate_everything'"):
        agentool_otel.evaluate_everything  # noqa: B018


def test_every_function_can_be_called_after_every_module_was_imported(tmp_path: Path) -> None:
    code = """
import agentool_otel, inspect, pkgutil
skipped = ("__main__", "_bootstrap")
for module in pkgutil.walk_packages(agentool_otel.__path__, "agentool_otel."):
    if not any(name in module.name for name in skipped):
        __import__(module.name)
for name in agentool_otel.__all__:
    assert not inspect.ismodule(getattr(agentool_otel, name)), name
"""
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path)
