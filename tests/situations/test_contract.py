"""Laws of every framework in every situation."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from agentool_otel.testing.conformance import check_all
from agentool_otel.tracing.spans import live
from tests.situations.conftest import Stage
from tests.situations.situations import (
    ANSWER,
    QUESTION,
    RESULT,
    SITUATIONS,
    SYSTEM,
    frameworks,
    possible,
    turns,
)

pytestmark = pytest.mark.thorough

CASES = [(framework, situation) for framework in frameworks() for situation in SITUATIONS]
every_situation = pytest.mark.parametrize(("driver", "situation"), CASES, indirect=["driver"])


def play(stage: Stage, driver: ModuleType, situation: str) -> tuple[Any, BaseException | None]:
    if situation not in possible(driver):
        pytest.skip(driver.IMPOSSIBLE[situation])
    return stage.play(driver, situation)


def same(one: BaseException | None, error: BaseException | None) -> bool:
    return (type(one), str(one)) == (type(error), str(error))


@every_situation
def test_a_traced_program_sees_no_difference(
    driver: ModuleType, situation: str, stage: Stage
) -> None:
    outcome, error = play(stage, driver, situation)
    stage.set(attached=False)
    plain_outcome, plain_error = stage.play(driver, situation)
    assert outcome == plain_outcome
    assert same(error, plain_error)


@every_situation
def test_detached_it_records_nothing(driver: ModuleType, situation: str, stage: Stage) -> None:
    stage.set(attached=False)
    play(stage, driver, situation)
    ours = [span for span in stage.recorded.spans() if span.scope.startswith("agentool_otel")]
    assert ours == []


@every_situation
def test_every_call_of_the_model_is_one_span_with_its_tokens(
    driver: ModuleType, situation: str, stage: Stage
) -> None:
    play(stage, driver, situation)
    calls = [
        span.attributes
        for span in stage.recorded.spans()
        if span.attributes.get("gen_ai.operation.name") in ("chat", "generate_content")
    ]
    assert len(calls) == len(stage.requests)
    if situation in ("model_error", "cancelled"):
        return
    recorded = [
        (call.get("gen_ai.usage.input_tokens"), call.get("gen_ai.usage.output_tokens"))
        for call in calls
    ]
    if situation in getattr(driver, "NO_USAGE", {}):
        assert set(recorded) == {(None, None)}
        return
    text = turns(driver, situation)[: len(stage.requests)]
    assert sorted(recorded) == sorted((item.input_tokens, item.output_tokens) for item in text)


@every_situation
def test_without_content_no_text_of_the_user_is_recorded(
    driver: ModuleType, situation: str, stage: Stage
) -> None:
    stage.set(content=False)
    play(stage, driver, situation)
    recorded = repr([(span.name, span.attributes, span.events) for span in stage.recorded.spans()])
    for text in (QUESTION, SYSTEM, RESULT, ANSWER):
        assert text not in recorded


@every_situation
def test_what_is_recorded_follows_the_conventions(
    driver: ModuleType, situation: str, stage: Stage
) -> None:
    play(stage, driver, situation)
    assert check_all(stage.recorded.spans()) == []


@every_situation
def test_nothing_is_left_open_or_current(driver: ModuleType, situation: str, stage: Stage) -> None:
    from opentelemetry import trace

    before = trace.get_current_span()
    play(stage, driver, situation)
    assert trace.get_current_span() is before
    spans = stage.recorded.spans()
    span_ids = {span.span_id for span in spans}
    assert all(span.parent_id is None or span.parent_id in span_ids for span in spans)


@pytest.mark.parametrize("broken", ["begin", "LiveSpan.end", "LiveSpan.opened"])
@every_situation
def test_an_error_of_ours_is_never_the_programs(
    driver: ModuleType,
    situation: str,
    broken: str,
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("a bug of ours")

    stage.set(attached=False)
    outcome, error = play(stage, driver, situation)
    stage.set()
    monkeypatch.setattr("agentool_otel.tracing.spans.settings.settings.strict", False)
    owner, _, name = broken.rpartition(".")
    if owner:
        monkeypatch.setattr(live.LiveSpan, name, fails)
    else:
        for module in modules_with_begin():
            monkeypatch.setattr(module, "begin", fails)
    broken_outcome, broken_error = stage.play(driver, situation)
    assert outcome == broken_outcome
    assert same(error, broken_error)


def modules_with_begin() -> list[Any]:
    import sys

    return [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("agentool_otel.") and getattr(module, "begin", None) is live.begin
    ]
