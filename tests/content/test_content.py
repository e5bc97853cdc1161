"""Content: the decision about capture, and the effects of `redact`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from agentool_otel.content.policy import Policy, clean_start, encode, places, requested
from agentool_otel.semconv import gen_ai


def cleaned(value: Any, policy: Policy | None = None) -> Any:
    attributes = {gen_ai.TOOL_CALL_ARGUMENTS: encode(value)}
    (policy or Policy(capture=True)).clean(attributes)
    text = attributes.get(gen_ai.TOOL_CALL_ARGUMENTS)
    return None if text is None else json.loads(text)


def test_without_capture_content_is_dropped_and_the_rest_stays() -> None:
    attributes = {gen_ai.TOOL_CALL_ARGUMENTS: "{}", gen_ai.TOOL_NAME: "t"}
    Policy(capture=False).clean(attributes)
    assert attributes == {gen_ai.TOOL_NAME: "t"}


def test_redact_sees_masked_text_and_may_change_or_drop_it() -> None:
    log: list[tuple[str, str]] = []

    def redact(name: str, text: str) -> str | None:
        log.append((name, text))
        return None if "drop" in text else text.upper()

    assert cleaned({"a": "b"}, Policy(capture=True, redact=redact)) == {"A": "B"}
    assert cleaned({"a": "drop"}, Policy(capture=True, redact=redact)) is None
    assert log[0] == (gen_ai.TOOL_CALL_ARGUMENTS, '{"a":"b"}')


def test_a_raising_redact_drops_the_attribute() -> None:
    def redact(name: str, text: str) -> str:
        raise RuntimeError

    assert cleaned({"a": 1}, Policy(capture=True, redact=redact)) is None


@pytest.mark.parametrize(
    ("said", "expected", "spans", "events"),
    [
        ("SPAN_ONLY", True, True, False),
        ("span_and_event", True, True, True),
        ("EVENT_ONLY", True, False, True),
        ("true", True, True, False),
        ("NO_CONTENT", False, True, False),
        ("false", False, True, False),
        ("", None, True, False),
        ("maybe", False, True, False),
    ],
)
def test_the_capture_modes_of_the_conventions_are_understood(
    said: str, expected: bool | None, spans: bool, events: bool
) -> None:
    environ: Mapping[str, str] = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": said}
    assert requested(environ) is expected
    assert places(environ) == (spans, events)


def test_an_unknown_capture_mode_captures_nothing_and_warns(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert requested({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "sometimes"}) is False
    assert "use SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT or NO_CONTENT" in caplog.text


@pytest.mark.parametrize("texts", [["END"], ["a", "b", "c"], []])
def test_a_span_starts_without_content(texts: list[str]) -> None:
    attributes = {gen_ai.REQUEST_STOP_SEQUENCES: texts, gen_ai.INPUT_MESSAGES: "[]", "a": "b"}
    clean_start(attributes)
    assert attributes == {"a": "b"}


def test_redact_sees_each_text_of_a_list_and_may_drop_it() -> None:
    policy = Policy(capture=True, redact=lambda _, text: None if "drop" in text else text.upper())
    attributes: dict[str, Any] = {gen_ai.REQUEST_STOP_SEQUENCES: ["stop", "drop", 7]}
    policy.clean(attributes)
    assert attributes[gen_ai.REQUEST_STOP_SEQUENCES] == ["STOP", 7]
    assert attributes["agentool.content.redacted"] == [gen_ai.REQUEST_STOP_SEQUENCES]


def test_credentials_in_a_list_of_content_are_masked() -> None:
    attributes: dict[str, Any] = {gen_ai.REQUEST_STOP_SEQUENCES: ["sk-proj-" + "a1B2" * 10, "END"]}
    Policy(capture=True).clean(attributes)
    first, second = attributes[gen_ai.REQUEST_STOP_SEQUENCES]
    assert "a1B2" not in first
    assert second == "END"
