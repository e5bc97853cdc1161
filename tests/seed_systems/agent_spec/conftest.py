"""The instrumentor is attached to pyagentspec in every test here, and to nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.integrations.agent_spec.instrumentor.patches import AgentSpecInstrumentor
from agentool_otel.tracing.setup.frameworks import attach


@pytest.fixture
def attached(spans: Any) -> Iterator[Any]:
    """The spans of a test in which only pyagentspec is instrumented."""
    instrumentor = AgentSpecInstrumentor()
    instrumentor.instrument()
    yield spans
    instrumentor.uninstrument()


@pytest.fixture
def all_attached(spans: Any) -> Iterator[Any]:
    """The spans of a test in which every framework is instrumented, as by `instrument()`."""
    from agentool_otel.tracing.setup.frameworks import instrumentors

    attach(instrumentors(), threads=True)
    yield spans
    attach((), threads=False)
