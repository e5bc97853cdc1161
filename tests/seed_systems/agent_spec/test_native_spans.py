"""Check 70: a runtime's own OpenTelemetry beside ours; every call counts once.

Agent Framework and AutoGen write spans of agents and tools that no instrumentor of ours stands for,
so none of their scopes is replaced: of Agent Framework's model calls the client's instrumentor
writes a span below theirs, and a rebuild makes one call of both. WayFlow makes SDK spans without a
tracer and gives them to an exporter, so no provider could replace them: they have no scope, ids of
64 bits and no GenAI name, lie in a trace of their own, and are no run.

Seen with agent-framework-core 1.23.0, autogen-core 0.7.5 and wayflowcore 26.3.0.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.seed_systems.agent_spec.native_program import INPUT_TOKENS, OUTPUT_TOKENS
from tests.seed_systems.agent_spec.runtimes import ROOT, example, needed

NATIVE = {"agent-framework": "agent_framework", "autogen": "autogen-core", "wayflow": ""}
"""The scopes of runtimes' own spans."""
PROVIDERS = pytest.mark.parametrize("provider", ["own", "user"])


@cache
def spans_beside(provider: str) -> list[SpanRecord]:
    """Return all spans of a question to each such runtime that is installed."""
    native = [name for name in NATIVE if find_spec(example().RUNTIMES[name][0])]
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "OPENAI_"))}
    with TemporaryDirectory() as folder:
        changed = {
            "AGENTOOL_DIR": folder,
            "PYTHONPATH": str(ROOT),
            "OPENAI_API_KEY": "none",
            "OPENAI_AGENTS_DISABLE_TRACING": "true",
        }
        program = [sys.executable, "-W", "ignore", "-m"]
        done = subprocess.run(
            [*program, "tests.seed_systems.agent_spec.native_program", provider, *native],
            env={**environ, **changed},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return list(open_source(folder).spans())


@PROVIDERS
@pytest.mark.parametrize("runtime", NATIVE)
def test_check_70_beside_a_runtimes_own_spans_every_call_counts_once(
    runtime: str, provider: str
) -> None:
    needed(runtime)
    spans = spans_beside(provider)
    assert NATIVE[runtime] in {span.scope for span in spans}
    runs = [item for item in rebuild(spans) if item.framework() == runtime]
    [run] = [run for run in runs if run.trace.tool_calls()]
    assert [tool_call.name for tool_call in run.trace.tool_calls()] == ["get_weather"]
    assert sum(run.fidelity.model_calls for run in runs) == 2
    metrics: Any = run.trace.metrics
    assert metrics.total_tokens == 2 * (INPUT_TOKENS + OUTPUT_TOKENS)


@PROVIDERS
def test_check_70_wayflows_own_spans_are_no_run(provider: str) -> None:
    needed("wayflow")
    native = [span for span in spans_beside(provider) if not span.scope]
    assert {"AgentExecution[weather]", "LlmGeneration[model]", "ToolExecutionSpan"} <= {
        item.name for item in native
    }
    assert not {item.trace_id for item in native} & {
        span.trace_id for span in spans_beside(provider) if span.scope
    }
    assert list(rebuild(native)) == []
