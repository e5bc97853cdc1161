"""Frameworks are driven under a tracer provider of ours, which is the process's, as in programs."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel
from tests.situations.situations import asked, driver_of, possible, turns

if TYPE_CHECKING:
    from agentool_otel.testing.captured import AgentTraces


class Stage:
    """Setting for a framework: the model, the spans and the attached instrumentors."""

    def __init__(self, provider: Any, memory: Any):
        from agentool_otel.testing.captured import AgentTraces

        self._provider = provider
        self._memory = memory
        self.recorded: AgentTraces = AgentTraces(memory)
        self.requests: list[Any] = []
        """The requests to the model in the last situation."""

    def set(self, attached: bool = True, content: bool = True) -> None:
        """Attach every instrumentor, or none; capture content, or not."""
        from agentool_otel.content.policy import Policy
        from agentool_otel.tracing.setup.frameworks import attach, instrumentors
        from agentool_otel.tracing.spans.settings import settings

        settings.reset()
        settings.configure(provider=self._provider, policy=Policy(capture=content))
        settings.enabled = settings.agent_usage = True  # as in a recording
        attach(instrumentors() if attached else (), threads=attached)
        self._memory.forget()

    def forget(self) -> None:
        """Forget the spans so far."""
        self._memory.forget()

    def play(self, driver: ModuleType, situation: str) -> tuple[Any, BaseException | None]:
        """Bring a framework into a situation; return its result or its exception."""
        from agentool_otel.tracing.spans.settings import settings

        self._memory.forget()
        asked.clear()
        with LoopbackModel(*turns(driver, situation)) as model:
            model.requests = asked
            try:
                outcome, error = possible(driver)[situation](model.base_url), None
            except BaseException as raised:
                outcome, error = None, raised
        settings.end_runs(error)  # as the end of a program does
        self.requests = list(asked)
        return outcome, error


@contextmanager
def stages() -> Generator[Stage]:
    """A stage, on the tracer provider that is the process's meanwhile."""
    from opentelemetry import trace

    from agentool_otel.tracing.export.in_memory import InMemory
    from agentool_otel.tracing.setup.frameworks import attach, instrumentors
    from agentool_otel.tracing.setup.own_provider import OwnProvider

    api: Any = trace
    instrumentors()  # their native scopes are known before tracers are given out
    provider, memory = OwnProvider(shutdown_on_exit=False), InMemory()
    provider.add_span_processor(memory)
    before, api._TRACER_PROVIDER = api._TRACER_PROVIDER, provider
    try:
        yield Stage(provider, memory)
    finally:
        attach((), threads=False)
        api._TRACER_PROVIDER = before


@pytest.fixture(scope="session")
def _stage() -> Iterator[Stage]:
    if find_spec("opentelemetry.sdk") is None:
        pytest.skip("the SDK is not installed")
    with stages() as stage:
        yield stage


@pytest.fixture
def stage(_stage: Stage) -> Iterator[Stage]:
    """Everything attached, content captured; put back afterwards."""
    from agentool_otel.tracing.setup.frameworks import attach
    from agentool_otel.tracing.spans.settings import settings

    _stage.set()
    yield _stage
    attach((), threads=False)
    settings.reset()


@pytest.fixture
def driver(request: pytest.FixtureRequest) -> ModuleType:
    """The driver of the framework that a test is about; the test is skipped without that."""
    result = driver_of(request.param)
    if result is None:
        pytest.skip(f"{request.param} is not installed")
    return result
