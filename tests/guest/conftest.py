"""Shared rules of the guest tests: the host's log stays empty, and its threads carry context."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from agentool_otel.tracing.capture import agent, step, tool
from agentool_otel.tracing.capture.threads import carry_into_threads, stop_carrying

Decorator = Callable[[Any], Any]

DECORATORS: dict[str, Decorator] = {
    "tool": tool,
    "agent": agent,
    "step": step("memory_read"),
}


@pytest.fixture(params=DECORATORS)
def decorator(request: pytest.FixtureRequest) -> Decorator:
    """Each of the three decorators that make a span."""
    return DECORATORS[request.param]


@pytest.fixture(autouse=True)
def silent(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """A healthy run logs nothing at WARNING or above, ours or OpenTelemetry's or asyncio's."""
    with caplog.at_level(logging.WARNING):
        yield
        gc.collect()
    messages = [
        record.getMessage()
        for when in ("setup", "call")
        for record in caplog.get_records(when)
        if record.levelno >= logging.WARNING
    ]
    assert not messages, messages


@pytest.fixture
def carrying() -> Iterator[None]:
    """Threads and pools work in the context of whoever gives them work."""
    carry_into_threads()
    yield
    stop_carrying()


@pytest.fixture
def tracer(spans: Any) -> Any:
    """The user's own tracer, of the same provider."""
    from agentool_otel.tracing.spans.settings import settings

    assert settings.provider is not None
    return settings.provider.get_tracer("app")
