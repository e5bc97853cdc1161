"""The real LlamaIndex against the loopback model."""

from __future__ import annotations

import asyncio
import logging
import warnings
from collections.abc import Coroutine, Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import ToolCall, Turn
from agentool_otel.tracing.spans import settings as containment
from agentool_otel.tracing.spans.settings import settings
from tests.situations.conftest import Stage, stages
from tests.situations.on_stage import OnStage

SEARCH = Turn(
    tool_calls=(ToolCall("search_web", {"query": "OTel"}),), input_tokens=40, output_tokens=12
)
DONE = Turn(text="Done.", input_tokens=60, output_tokens=9)


def search_web(query: str) -> str:
    """Search the web."""
    return f"found {query}"


class Scene(OnStage):
    """Agents and models of one test, and their recorded spans."""

    def __init__(self, stage: Stage, model: LoopbackModel):
        self.stage = stage
        self.push = model.push
        self.requests, self.rules = model.requests, model.rules
        self._url = model.base_url

    def llm(self, kind: str = "openai.OpenAI", **options: Any) -> Any:
        module, _, name = kind.rpartition(".")
        chosen = {"api_base": self._url, "api_key": "none", "max_retries": 0, "model": "gpt-5"}
        return getattr(import_module(f"llama_index.llms.{module}"), name)(**chosen | options)

    def embedding(self) -> Any:
        module = import_module("llama_index.embeddings.openai")
        return module.OpenAIEmbedding(api_base=self._url, api_key="none", max_retries=0)

    def agent(self, *tools: Any, kind: str = "FunctionAgent", **options: Any) -> Any:
        chosen = {
            "name": "researcher",
            "description": "Searches.",
            "llm": self.llm(),
            "tools": list(tools),
            "streaming": False,
        }
        return getattr(agents(), kind)(**chosen | options)

    def run(self, agent: Any, *args: Any, **options: Any) -> Any:
        """Return the result of one run."""

        async def work() -> Any:
            return await agent.run(*args, **options)

        return wait(work())


def agents() -> Any:
    return import_module("llama_index.core.agent.workflow")


def workflows() -> Any:
    return import_module("llama_index.core.workflow")


def workflow(**steps: tuple[Any, Any, Any]) -> Any:
    """Return a class of workflows.

    Args:
        steps: by name, a function, and the events that it takes and returns.
    """
    methods: dict[str, Any] = {}
    for name, (function, taken, returned) in steps.items():
        function.__annotations__ = {"ev": taken, "return": returned}
        function.__qualname__ = f"Flow.{name}"
        methods[name] = workflows().step(function)
    return type("Flow", (workflows().Workflow,), methods)


def wait(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


@pytest.fixture(scope="session")
def _stage() -> Iterator[Stage]:
    pytest.importorskip("llama_index.core")
    pytest.importorskip("llama_index.llms.openai")
    pytest.importorskip("opentelemetry.sdk")
    with stages() as stage:
        yield stage


@pytest.fixture
def scene(_stage: Stage, caplog: pytest.LogCaptureFixture) -> Iterator[Scene]:
    """Everything attached. LlamaIndex swallows errors of a handler, so they are looked for in the
    log."""
    _stage.set()
    settings.strict = False
    containment._reported.clear()
    with warnings.catch_warnings(), LoopbackModel() as model, caplog.at_level(logging.WARNING):
        warnings.simplefilter("ignore")
        yield Scene(_stage, model)
    faults = [item.getMessage() for item in caplog.records if "agentool_otel" in item.getMessage()]
    assert faults == []
