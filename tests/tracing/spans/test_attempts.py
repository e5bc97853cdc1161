"""A model call that fails and is made again outside any run is one call, and no failed run."""

from __future__ import annotations

from contextvars import copy_context
from typing import Any

import pytest

import agentool_otel
from agentool_otel.loading import rebuild
from agentool_otel.tracing.spans.attempts import share_attempts, stop_sharing
from tests.records import records


class Down(Exception):
    """The error of a server."""


def ask(question: str, *, fails: bool, model: str = "m") -> None:
    """Call a model; a failed call raises nothing, as inside a router."""
    try:
        with agentool_otel.model_call(model, messages=question, provider="own") as call:
            if fails:
                raise Down
            call.output("Fine.")
            call.usage(1, 1)
    except Down:
        pass


def statuses(spans: Any) -> list[str]:
    return [str(item.trace.status) for item in rebuild(records(spans.finished()))]


@pytest.mark.parametrize("content", [True, False], ids=["content", "no content"])
@pytest.mark.parametrize("failures", [1, 3])
def test_failed_attempts_are_no_failed_runs(spans: Any, failures: int, content: bool) -> None:
    if not content:
        spans.without_content()
    for number in range(failures):
        ask("hello", fails=True, model=f"m{number}")
    ask("hello", fails=False)
    assert statuses(spans) == ["success"]


def test_attempts_that_all_fail_are_one_failed_run(spans: Any) -> None:
    for _ in range(3):
        ask("hello", fails=True)
    assert statuses(spans) == ["error"]


def test_an_attempt_in_a_copy_of_the_context_counts(spans: Any) -> None:
    share_attempts("chain")
    copy_context().run(ask, "hello", fails=True)
    copy_context().run(ask, "hello", fails=False)
    stop_sharing("chain")
    assert statuses(spans) == ["success"]


def test_attempts_after_the_end_of_a_chain_are_apart(spans: Any) -> None:
    share_attempts("chain")
    stop_sharing("chain")
    copy_context().run(ask, "hello", fails=True)
    copy_context().run(ask, "hello", fails=False)
    assert statuses(spans) == ["error", "success"]


def test_attempts_of_contexts_apart_are_apart(spans: Any) -> None:
    copy_context().run(ask, "hello", fails=True)
    copy_context().run(ask, "hello", fails=False)
    assert statuses(spans) == ["error", "success"]


def test_another_call_between_ends_the_attempts(spans: Any) -> None:
    ask("hello", fails=True)
    ask("something else", fails=False)
    ask("hello", fails=False)
    assert sorted(statuses(spans)) == ["error", "success", "success"]


def test_a_call_that_worked_is_no_attempt(spans: Any) -> None:
    ask("hello", fails=False)
    ask("hello", fails=False)
    assert statuses(spans) == ["success", "success"]


def test_after_two_minutes_it_is_another_call(spans: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentool_otel.tracing.spans.attempts._LATEST_NS", 0)
    ask("hello", fails=True)
    ask("hello", fails=False)
    assert statuses(spans) == ["error", "success"]


def test_below_another_span_it_is_another_call(spans: Any) -> None:
    from agentool_otel.tracing.spans.settings import settings

    assert settings.provider is not None
    tracer = settings.provider.get_tracer("web")
    for fails in (True, False):
        with tracer.start_as_current_span("work"):
            ask("hello", fails=fails)
    assert sorted(statuses(spans)) == ["error", "success"]
