"""Spans that a library writes of itself are replaced, where the tracer provider is ours."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar

import pytest

from agentool_otel.model.operations import ToolExecution
from agentool_otel.tracing.instrumentation import AgentInstrumentor, Patch, start_step

pytest.importorskip("opentelemetry.sdk")

SCOPE = "library.of.its.own"


def _work(wrapped: Any, _: Any, args: Any, kwargs: Any) -> Any:
    operation = ToolExecution(name="work", tool_type="function")
    with start_step(operation, description="a tool of a library", scope=__name__):
        return wrapped(*args, **kwargs)


class LibraryInstrumentor(AgentInstrumentor):
    framework = "pytest"  # which is installed
    patches: ClassVar[tuple[Patch, ...]] = (Patch("a_library_with_spans", "work", _work),)
    native_scopes = (SCOPE,)


class Moved(LibraryInstrumentor):
    patches: ClassVar[tuple[Patch, ...]] = (
        *LibraryInstrumentor.patches,
        Patch("a_library_with_spans", "gone", _work),
    )


class Library:
    """A library that traces itself, and its recorded spans."""

    def __init__(self) -> None:
        from agentool_otel.testing.captured import AgentTraces
        from agentool_otel.tracing.export.in_memory import InMemory
        from agentool_otel.tracing.setup.own_provider import OwnProvider
        from agentool_otel.tracing.spans.settings import settings

        self.provider, memory = OwnProvider(shutdown_on_exit=False), InMemory()
        self.provider.add_span_processor(memory)
        settings.configure(provider=self.provider)
        self._recorded = AgentTraces(memory)

    def work(self) -> None:
        with (
            self.provider.get_tracer(SCOPE).start_as_current_span("native"),
            self.provider.get_tracer("another").start_as_current_span("below"),
        ):
            pass

    def tree(self) -> dict[str, str | None]:
        """Return the names of all spans with that of the parent."""
        spans = self._recorded.spans()
        names = {span.span_id: span.name for span in spans}
        return {span.name: names.get(span.parent_id or "") for span in spans}


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Iterator[Library]:
    from agentool_otel.tracing.spans.settings import settings

    settings.reset()
    library, module = Library(), ModuleType("a_library_with_spans")
    vars(module)["work"] = library.work
    monkeypatch.setitem(sys.modules, module.__name__, module)
    yield library
    LibraryInstrumentor().uninstrument()
    LibraryInstrumentor._instance = Moved._instance = None
    settings.reset()


def call() -> None:
    sys.modules["a_library_with_spans"].work()


def test_an_instrumented_call_has_one_span_with_children(library: Library) -> None:
    LibraryInstrumentor().instrument()
    call()
    assert library.tree() == {"execute_tool work": None, "below": "execute_tool work"}


def test_uninstrumented_the_library_writes_its_own_spans_again(library: Library) -> None:
    LibraryInstrumentor().instrument()
    LibraryInstrumentor().uninstrument()
    call()
    assert library.tree() == {"native": None, "below": "native"}


def test_where_a_patch_finds_nothing_the_native_spans_stay(library: Library) -> None:
    Moved().instrument()
    call()
    Moved().uninstrument()
    assert library.tree()["below"] == "native"


def test_a_tracer_made_before_follows_as_well(library: Library) -> None:
    LibraryInstrumentor()  # known, not attached
    tracer = library.provider.get_tracer(SCOPE)
    tracer.start_span("before").end()
    LibraryInstrumentor().instrument()
    tracer.start_span("meanwhile").end()
    LibraryInstrumentor().uninstrument()
    tracer.start_span("after").end()
    assert set(library.tree()) == {"before", "after"}
