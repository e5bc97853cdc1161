"""Fixtures of all tests: finished spans, and a model server on this machine.

Our own errors are raised in tests, not logged: see `tracing.spans.settings.guarded`.
"""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.laws import load_profile

os.environ["AGENTOOL_OTEL_STRICT"] = "1"
os.environ["AGENTOOL_PREFILTER"] = "off"  # no test depends on what a thread has loaded meanwhile
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell starts background jobs so, and the programs that tests start would inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
load_profile()

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from agentool_otel.testing.loopback_model import LoopbackModel
    from tests.prefilters import Look
    from tests.tracing.export.logged import Provided


class Spans:
    """The spans that have ended in a test."""

    def __init__(self, exporter: InMemorySpanExporter):
        self._exporter = exporter

    def finished(self) -> list[ReadableSpan]:
        """Return the spans in the order they ended."""
        return list(self._exporter.get_finished_spans())

    def only(self) -> ReadableSpan:
        """Return the one span there is."""
        (span,) = self.finished()
        return span

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of the only span, arrays as lists."""
        attributes = dict(self.only().attributes or {})
        return {k: list(v) if isinstance(v, tuple) else v for k, v in attributes.items()}

    def json(self, attribute: str) -> Any:
        """Return a JSON attribute of the only span, decoded."""
        from agentool_otel.ground.json_codec import loads

        return loads(self.attributes()[attribute])

    def tree(self) -> str:
        """Return the spans as indented text: name, tokens, finish reasons, error."""
        return _tree(self.finished())

    def forget(self) -> None:
        """Forget the spans so far; they are not checked against the conventions."""
        self._exporter.clear()

    def without_content(self) -> None:
        """Capture no content from here on."""
        from agentool_otel.content.policy import Policy
        from agentool_otel.tracing.spans.settings import settings

        settings.configure(policy=Policy(capture=False))


def _tree(spans: Sequence[ReadableSpan]) -> str:
    ids = {span.context.span_id for span in spans if span.context is not None}
    lines: list[tuple[str, str]] = []

    def add(parent: int | None, depth: int) -> None:
        for span in sorted(spans, key=lambda span: span.start_time or 0):
            above = span.parent.span_id if span.parent is not None else None
            if (above if above in ids else None) == parent and span.context is not None:
                lines.append(("  " * depth + span.name, _facts(dict(span.attributes or {}))))
                add(span.context.span_id, depth + 1)

    add(None, 0)
    width = max((len(name) for name, _ in lines), default=0)
    return "\n".join(f"{name:{width}}   {facts}".rstrip() for name, facts in lines)


def _facts(attributes: dict[str, Any]) -> str:
    names = {
        "in": attributes.get("gen_ai.usage.input_tokens"),
        "out": attributes.get("gen_ai.usage.output_tokens"),
        "finish": ",".join(attributes.get("gen_ai.response.finish_reasons") or ()) or None,
        "error": attributes.get("error.type"),
    }
    return " ".join(f"{name}={value}" for name, value in names.items() if value is not None)


@pytest.fixture(autouse=True)
def _garbage_of_its_own() -> Iterator[None]:
    """Limit collections within a test to its own objects: with every imported module, each would
    take a second.
    """
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def _no_context_of_a_test_stays() -> Iterator[None]:
    """Fail a test that leaves a context current: what follows in the thread would belong to it."""
    from opentelemetry.context import Context, attach, get_current

    before = get_current()
    yield
    after = get_current()
    attach(Context(before))
    assert after == before, "a context stayed current"


@pytest.fixture
def spans() -> Iterator[Spans]:
    """The spans of this test, content captured; every one is checked against the conventions."""
    pytest.importorskip("opentelemetry.sdk")
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from agentool_otel.content.policy import Policy
    from agentool_otel.tracing.loops.ends import forget_loops
    from agentool_otel.tracing.spans.settings import settings

    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    before = trace.get_current_span()
    settings.reset()
    forget_loops()
    settings.configure(provider=provider, policy=Policy(capture=True))
    result = Spans(exporter)
    try:
        yield result
        capture, generation = settings.policy.capture, settings.dialect.generation
    finally:
        settings.reset()
    assert trace.get_current_span() is before, "a span stayed in the context"
    from agentool_otel.semconv.table import GENERATIONS
    from agentool_otel.testing.conformance import assert_conformant

    [name] = (name for name, value in GENERATIONS.items() if value is generation)
    assert_conformant(result.finished(), content=capture, generation=name)


@pytest.fixture
def provided(monkeypatch: pytest.MonkeyPatch) -> Provided:
    """Log records that reach a logger provider of ours, which is the global one."""
    from importlib import import_module

    from agentool_otel.tracing.export.logs import LoggerProvider
    from agentool_otel.tracing.spans.settings import settings
    from tests.tracing.export.logged import RESOURCE, Provided

    result = Provided()
    provider = LoggerProvider(result.put, lambda _: result.wanted, lambda: RESOURCE)
    insides = import_module("opentelemetry._logs._internal")
    monkeypatch.setattr(insides, "_LOGGER_PROVIDER", provider)
    settings.configure()  # loggers are made anew
    return result


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    """A model server on this machine."""
    from agentool_otel.testing.loopback_model import LoopbackModel

    with LoopbackModel() as running:
        yield running


@pytest.fixture(scope="session")
def prefilter_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The database of the prefilter, compiled once for all workers."""
    pytest.importorskip("hyperscan")
    from tests.prefilters import compiled_in

    return compiled_in(tmp_path_factory.getbasetemp().parent / "prefilter")


@pytest.fixture(scope="session")
def prefilter_look(prefilter_file: Path) -> Look:
    """The look of that database."""
    from tests.prefilters import look_from

    return look_from(prefilter_file)


@pytest.fixture(
    scope="module",
    params=["exact search", pytest.param("prefilter", marks=pytest.mark.thorough)],
)
def every_search(request: pytest.FixtureRequest) -> Iterator[None]:
    """Run the tests of a module twice: the results are the same with a prefilter and without."""
    if request.param == "exact search":
        yield
        return
    look = request.getfixturevalue("prefilter_look")
    from tests.prefilters import in_force

    with in_force(look):
        yield
