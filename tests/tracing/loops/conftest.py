"""A client of a loopback model, instrumented."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from tests.tracing.loops.plain_programs import client_of


@pytest.fixture(autouse=True)
def instrumented(spans: Any) -> Iterator[None]:
    pytest.importorskip("openai")
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument()
    yield
    instrumentor.uninstrument()


@pytest.fixture
def client(model: LoopbackModel) -> Iterator[Any]:
    with client_of(model) as client:
        yield client
