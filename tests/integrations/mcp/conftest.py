"""Clients and servers of the MCP SDK, and FastMCP where it is installed, with our instrumentors."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import pytest


@pytest.fixture
def instrumented() -> Iterator[Any]:
    """Our instrumentors, attached."""
    pytest.importorskip("mcp.client.session")
    from agentool_otel.integrations.fastmcp.instrumentor import FastMCPInstrumentor
    from agentool_otel.integrations.mcp.instrumentor.patches import MCPInstrumentor

    both = [MCPInstrumentor(), *([FastMCPInstrumentor()] if find_spec("fastmcp") else [])]
    for each in both:
        each.instrument()
    yield both
    for each in both:
        each.uninstrument()


@pytest.fixture
def native(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The SDK's and FastMCP's own tracers are of the user's provider, which our spans go to too."""
    from opentelemetry import trace

    from agentool_otel.tracing.spans.settings import settings

    pytest.importorskip("mcp.shared._otel")
    provider = settings.provider
    assert provider is not None
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    tracer = provider.get_tracer("mcp-python-sdk")
    monkeypatch.setattr(import_module("mcp.shared._otel"), "_tracer", tracer)
