"""The real openai client against the loopback model, sync and async."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel

HELLO = [{"role": "user", "content": "Hello"}]


class Calls:
    """Calls of one kind of client; a stream is read to its end and returned as a list."""

    def __init__(self, model: LoopbackModel, asynchronous: bool):
        import openai

        self.asynchronous = asynchronous
        self._made: Any = openai.AsyncOpenAI if asynchronous else openai.OpenAI
        self._options: dict[str, Any] = {
            "base_url": model.base_url,
            "api_key": "none",
            "max_retries": 0,
        }

    def chat(self, **requests: Any) -> Any:
        requests = {"model": "gpt-5", "messages": HELLO, **requests}
        return self._call(lambda client: client.chat.completions.create(**requests), requests)

    def responses(self, **requests: Any) -> Any:
        requests = {"model": "gpt-5", "input": "Hello", **requests}
        return self._call(lambda client: client.responses.create(**requests), requests)

    def embeddings(self, **requests: Any) -> Any:
        requests = {"model": "embed", "input": ["a", "b"], **requests}
        return self._call(lambda client: client.embeddings.create(**requests), requests)

    def run(self, use: Callable[[Any], Any], **options: Any) -> Any:
        """Give a client to a function, or to a coroutine function if it is an async one."""
        client = self._made(**{**self._options, **options})
        if not self.asynchronous:
            with client:
                return use(client)

        async def used() -> Any:
            async with client:
                return await use(client)

        return asyncio.run(used())

    def _call(self, call: Callable[[Any], Any], requests: dict[str, Any]) -> Any:
        options = requests.pop("client", {})
        streams = requests.get("stream") is True

        def use(client: Any) -> Any:
            result = call(client)
            return list(result) if streams else result

        async def use_async(client: Any) -> Any:
            waiting: Awaitable[Any] = call(client)
            result = await waiting
            return [chunk async for chunk in result] if streams else result

        return self.run(use_async if self.asynchronous else use, **options)


@pytest.fixture
def instrumented(spans: Any) -> Iterator[None]:
    pytest.importorskip("openai")
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument()
    yield
    instrumentor.uninstrument()


@pytest.fixture(params=["sync", "async"])
def calls(request: pytest.FixtureRequest, instrumented: None, model: LoopbackModel) -> Calls:
    """Both kinds of client, one after the other."""
    return Calls(model, request.param == "async")


@pytest.fixture
def client(instrumented: None, model: LoopbackModel) -> Iterator[Any]:
    """A sync client."""
    import openai

    with openai.OpenAI(base_url=model.base_url, api_key="none", max_retries=0) as ai:
        yield ai
