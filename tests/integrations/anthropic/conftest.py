"""The real client against the loopback model, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel

HELLO: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "Hello"}],
}


class Client:
    """A client of one kind."""

    def __init__(self, model: LoopbackModel, asynchronous: bool):
        self.asynchronous = asynchronous
        self._model = model

    def run(self, use: Callable[[Any], Any], **options: Any) -> Any:
        """Give a client to a function, which awaits what is awaitable by the runner's `done`."""
        name = "AsyncAnthropic" if self.asynchronous else "Anthropic"
        requests = {
            "base_url": self._model.root_url,
            "api_key": "none",
            "max_retries": 0,
            **options,
        }
        client = getattr(import_module("anthropic"), name)(**requests)
        if not self.asynchronous:
            with client:
                return use(client)

        async def used() -> Any:
            async with client:
                return await use(client)

        return asyncio.run(used())

    def create(self, **request: Any) -> Any:
        return self.run(lambda client: client.messages.create(**{**HELLO, **request}))


@pytest.fixture
def instrumented(spans: Any) -> Iterator[None]:
    pytest.importorskip("anthropic")
    from agentool_otel.integrations.anthropic.instrumentor.patches import AnthropicInstrumentor

    instrumentor = AnthropicInstrumentor()
    instrumentor.instrument()
    yield
    instrumentor.uninstrument()


@pytest.fixture(params=["sync", "async"])
def calls(request: pytest.FixtureRequest, instrumented: None, model: LoopbackModel) -> Client:
    """Both kinds of client, one after the other."""
    return Client(model, request.param == "async")


@pytest.fixture
def client(instrumented: None, model: LoopbackModel) -> Iterator[Any]:
    """A sync client."""
    anthropic = import_module("anthropic").Anthropic
    with anthropic(base_url=model.root_url, api_key="none", max_retries=0) as client:
        yield client
