"""The real client against the loopback model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel


@pytest.fixture
def instrumented(spans: Any) -> Iterator[None]:
    pytest.importorskip("google.genai")
    from agentool_otel.integrations.google_genai.instrumentor.patches import (
        GoogleGenAIInstrumentor,
    )

    instrumentor = GoogleGenAIInstrumentor()
    instrumentor.instrument()
    yield
    instrumentor.uninstrument()


@pytest.fixture
def new_client(instrumented: None, model: LoopbackModel) -> Callable[..., Any]:
    """Makes a client of the loopback model; takes what `Client` takes."""
    genai: Any = import_module("google.genai")

    def make(**options: Any) -> Any:
        return genai.Client(
            http_options={"base_url": model.root_url}, **{"api_key": "none", **options}
        )

    return make


@pytest.fixture
def client(new_client: Callable[..., Any]) -> Iterator[Any]:
    client = new_client()
    yield client
    if hasattr(client, "close"):  # since 1.40
        client.close()


def entered(client: Any) -> Any:
    """Return a client, sync or async, as the context manager that it is since 1.40."""
    is_manager = hasattr(client, "__enter__") or hasattr(client, "__aenter__")
    return client if is_manager else nullcontext(client)
