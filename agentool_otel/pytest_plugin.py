"""Fixtures and a marker for tests of agents. Nothing happens until a test uses one.

    agent_traces        what the test runs, as trajectories, captured in memory
    assert_trace        `agentool_otel.evaluation.assert_trace`, noted in pytest's JUnit report
    assert_conformant   `agentool_otel.testing.conformance.assert_conformant`
    agent_cases         marker: one test for each case of a file

Registered with pytest by installing this package; `-p no:agentool_otel` switches it off.

It may be imported before pytest looks for plug-ins, and holds no assertions: PYTEST_DONT_REWRITE
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from opentelemetry.sdk.trace import ReadableSpan

    from agentool_otel.evaluation.in_tests import Asserted
    from agentool_otel.evaluation.scopes import Run
    from agentool_otel.model.documents import EvalCase, EvalResult
    from agentool_otel.model.spans import SpanRecord
    from agentool_otel.testing.captured import AgentTraces

__all__ = ["AssertConformant", "AssertTrace", "agent_traces", "assert_conformant", "assert_trace"]

_MARKER = "agent_cases"


class AssertConformant(Protocol):
    """The type of the fixture `assert_conformant`."""

    def __call__(
        self, spans: Iterable[SpanRecord | ReadableSpan], content: bool = True
    ) -> None: ...


class AssertTrace(Protocol):
    """The type of the fixture `assert_trace`."""

    def __call__(
        self, trace: Run | Iterable[Run], *assertions: Asserted, min_evaluated: float = 1.0
    ) -> EvalResult: ...


@pytest.fixture(name="assert_conformant")
def assert_conformant() -> AssertConformant:
    """Fail with every violation: `agentool_otel.testing.conformance.assert_conformant`."""
    from agentool_otel.testing.conformance import assert_conformant as check

    return check


@pytest.fixture(name="agent_traces")
def agent_traces() -> Iterator[AgentTraces]:
    """Capture the runs of this test as traces: `.trace` for the only one, `.traces()` for all.
    `len(agent_traces)` is the number of runs, and a loop yields each with its fidelity.

    Captured in memory, with content, in all threads and tasks; nothing is written or sent.
    """
    from agentool_otel.testing.captured import captured_traces

    with captured_traces() as traces:
        yield traces


@pytest.fixture(name="assert_trace")
def assert_trace(request: pytest.FixtureRequest) -> AssertTrace:
    """Return `agentool_otel.evaluation.assert_trace`, which fails with the failed assertions and
    the steps.

    Trace id and score become properties of the test in pytest's JUnit report.
    """
    from agentool_otel.evaluation.in_tests import outcome_of

    def noted(
        trace: Run | Iterable[Run], *assertions: Asserted, min_evaluated: float = 1.0
    ) -> EvalResult:
        __tracebackhide__ = True
        result, message = outcome_of(trace, *assertions, min_evaluated=min_evaluated)
        for name in ("trace_id", "composite_score"):
            value = getattr(result, name)
            if isinstance(value, (str, int, float)):
                # Not by `record_property`, which warns of the format that reports have by default.
                request.node.user_properties.append((name, value))
        if message is not None:
            raise AssertionError(message)
        return result

    return noted


# ------------------------------------------------------------------------- a test for each case


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        f"{_MARKER}(*files): run the test once for each EvalCase of the files, which it takes as "
        "its argument `case`; paths are relative to the file of the test.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each case of the files that a test names."""
    marker = metafunc.definition.get_closest_marker(_MARKER)
    if marker is None:
        return
    folder = metafunc.definition.path.parent
    if not marker.args:
        raise pytest.Collector.CollectError(
            f"{_MARKER} names no file; hint: @pytest.mark.{_MARKER}('cases.json')"
        )
    cases = [case for file in marker.args for case in _cases(folder / file)]
    metafunc.parametrize("case", [pytest.param(case, id=case.case_id) for case in cases])


def _cases(place: Path) -> list[EvalCase]:
    from agentool_otel.errors import AgentoolError
    from agentool_otel.evaluation.cases.files import read_cases
    from agentool_otel.model.documents import EvalCase

    try:
        documents, problems = read_cases(place)
    except AgentoolError as error:
        raise pytest.Collector.CollectError(f"{_MARKER}: {error}") from None
    if problems:
        lines = "".join(f"\n  {problem.where}: {problem.message}" for problem in problems)
        raise pytest.Collector.CollectError(f"{_MARKER}: cases that cannot be read:{lines}")
    cases: list[Any] = [document for document in documents if isinstance(document, EvalCase)]
    if len(cases) < len(documents):
        raise pytest.Collector.CollectError(
            f"{_MARKER}: {place} holds assertions without a case; hint: give each case a case_id"
        )
    return cases
