"""The real SDK against the loopback model."""

from __future__ import annotations

import asyncio
import importlib
import inspect
from collections.abc import Coroutine, Iterator
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from tests.situations.conftest import Stage, stages
from tests.situations.readable import readable

SEARCH = Turn(
    tool_calls=(ToolCall("search_web", {"query": "OTel"}),), input_tokens=40, output_tokens=12
)
DONE = Turn(text="Done.", input_tokens=60, output_tokens=9)


def _known(function: Any, options: dict[str, Any]) -> None:
    """Skip a test of a feature that this version of the SDK lacks."""
    parameters = inspect.signature(inspect.unwrap(function)).parameters
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values())
    if not takes_any and (missing := options.keys() - parameters.keys()):
        pytest.skip(f"this version of the SDK has no {', '.join(sorted(missing))}")


class Scene:
    """Agents of one test, and their recorded spans."""

    def __init__(self, stage: Stage, model: LoopbackModel):
        self.stage = stage
        self.sdk: Any = importlib.import_module("agents")
        self.push = model.push
        self._url = model.base_url

    def agent(self, responses: bool = False, **options: Any) -> Any:
        """Return an agent, with a tool `search_web` if none are given."""
        openai = importlib.import_module("openai")
        client = openai.AsyncOpenAI(base_url=self._url, api_key="none", max_retries=0)
        kind = "OpenAIResponsesModel" if responses else "OpenAIChatCompletionsModel"
        settings: dict[str, Any] = {
            "name": "researcher",
            "instructions": "Search.",
            "model": getattr(self.sdk, kind)("gpt-5", client),
        }
        if "tools" not in options:
            settings["tools"] = [self.tool()]
        return self.sdk.Agent(**settings | options)

    def tool(self, error: Exception | None = None, **options: Any) -> Any:
        def search_web(query: str) -> str:
            """Search the web."""
            if error is not None:
                raise error
            return f"found {query}"

        _known(self.sdk.function_tool, options)
        return self.sdk.function_tool(search_web, **options)

    def run(self, agent: Any, prompt: Any = "Question", **options: Any) -> Any:
        _known(self.sdk.Runner.run, options)
        return asyncio.run(self.sdk.Runner.run(agent, prompt, **options))

    def stream(self, agent: Any, prompt: Any = "Question", **options: Any) -> Any:
        async def read() -> Any:
            result = self.sdk.Runner.run_streamed(agent, prompt, **options)
            async for _ in result.stream_events():
                pass
            return result

        return asyncio.run(read())

    def wait(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run(work)

    def names(self) -> list[str]:
        """Return the names of all spans in the order they began, indented by their depth."""
        lines = self.text().partition("\n\n")[0].splitlines()
        return [line for line in lines if line.strip().partition(" ")[0] in _OPERATIONS]

    def text(self) -> str:
        return readable(self.stage.recorded.spans())

    def all(self, operation: str) -> list[dict[str, Any]]:
        """Return the attributes of all spans of an operation."""
        spans = sorted(self.stage.recorded.spans(), key=lambda span: span.start_ns or 0)
        operations = [dict(span.attributes) for span in spans]
        return [item for item in operations if item.get("gen_ai.operation.name") == operation]


_OPERATIONS = {
    "invoke_agent",
    "invoke_workflow",
    "chat",
    "execute_tool",
    "search_memory",
    "create_memory",
    "delete_memory",
    "evaluate",
}


@pytest.fixture(scope="session")
def _stage() -> Iterator[Stage]:
    pytest.importorskip("agents.tracing")
    pytest.importorskip("opentelemetry.sdk")
    with stages() as stage:
        yield stage


@pytest.fixture
def scene(_stage: Stage, model: LoopbackModel) -> Iterator[Scene]:
    """Everything attached, content captured; put back afterwards."""
    from opentelemetry import trace

    from agentool_otel.tracing.spans.settings import settings

    _stage.set()
    before = trace.get_current_span()
    yield Scene(_stage, model)
    assert trace.get_current_span() is before
    settings.reset()
