"""The results of `evaluate` are computed as they are read, and print how far that is."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from agentool_otel.evaluation import evaluate
from agentool_otel.evaluation.lazy_results import EvalResults
from agentool_otel.model.documents import EvalResult, ReasoningTrace

CHECK = {"type": "output_equals", "value": "yes"}


def trace(output: str) -> ReasoningTrace:
    return ReasoningTrace(trace_id=output, output=output, status="success", steps=[])


def results(*outputs: str) -> EvalResults:
    return evaluate(CHECK, [trace(output) for output in outputs], scope="run")


def test_what_is_not_read_is_not_computed() -> None:
    requests: list[str] = []

    def traces() -> Iterator[ReasoningTrace]:
        requests.append("a trace")
        yield trace("yes")

    lazy = evaluate(CHECK, traces())
    assert requests == []
    assert repr(lazy) == "<EvalResults: none is computed yet; loop over them or call list()>"


def test_results_print_what_was_read_of_them() -> None:
    lazy = results("yes", "no", "yes")
    next(lazy)
    assert repr(lazy) == "<EvalResults: 1 result read, 1 passed; more may come>"
    assert [item.passed for item in lazy] == [False, True]
    assert repr(lazy) == "<EvalResults: 3 results read, 2 passed, 1 failed; all are read>"
    assert list(lazy) == []


def test_closed_results_print_that_the_rest_is_dropped() -> None:
    lazy = results("yes", "no")
    next(lazy)
    lazy.close()
    assert repr(lazy) == "<EvalResults: 1 result read, 1 passed; closed>"
    assert list(lazy) == []


def test_results_are_a_generator_as_before() -> None:
    lazy = results("yes", "no")
    assert isinstance(lazy, Generator)
    assert iter(lazy) is lazy
    assert lazy.send(None).passed is True
    with pytest.raises(KeyError, match="from outside"):
        lazy.throw(KeyError("from outside"))
    with pytest.raises(StopIteration):
        next(lazy)
    assert "stopped" in repr(lazy)


@pytest.mark.parametrize(
    "arguments", [(KeyError,), (KeyError, "x"), (KeyError, KeyError("x"), None)]
)
def test_throw_takes_what_generators_take(arguments: tuple[object, ...]) -> None:
    with pytest.raises(KeyError):
        results("yes").throw(*arguments)  # type: ignore[arg-type]


def test_results_that_are_dropped_end_what_computes_them() -> None:
    ended: list[bool] = []

    def computed() -> Generator[EvalResult, None, None]:
        try:
            yield EvalResult(case_id="c", passed=True, assertion_results=[])
        finally:
            ended.append(True)

    lazy = EvalResults(computed())
    next(lazy)
    del lazy
    assert ended == [True]
