"""Exceptions and content as events beside a span, whoever takes them."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

import agentool_otel
from agentool_otel.content.policy import Policy
from agentool_otel.ground import environment
from agentool_otel.model.operations import Inference
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.spans.events import Masked
from agentool_otel.tracing.spans.exceptions import Signals, signals
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.settings import settings
from tests.tracing.export.logged import Provided

SECRET = "sk-proj-abcdefghijklmnopqrstuvwx"
CALLED = Inference(provider="openai", request_model="gpt-5")
ASKED = [{"role": "user", "parts": [{"type": "text", "content": f"hi {SECRET}"}]}]


@agentool_otel.tool
def fail(why: str) -> None:
    raise ValueError(why)


def failed_call() -> None:
    live = begin(CALLED)
    assert live is not None
    live.end(CALLED, ConnectionError("gone"))


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("", Signals(spans=True, logs=False)),
        ("logs", Signals(spans=False, logs=True)),
        ("logs/dup", Signals(spans=True, logs=True)),
        ("http, logs/dup", Signals(spans=True, logs=True)),
        ("unknown", Signals(spans=True, logs=False)),
    ],
)
def test_the_environment_selects_where_exceptions_are_recorded(said: str, wanted: Signals) -> None:
    assert signals({environment.EXCEPTIONS: said}) == wanted


@pytest.mark.parametrize(
    ("said", "on_span", "logged"), [("logs", 0, 1), ("logs/dup", 1, 1), ("", 1, 0)]
)
def test_an_exception_is_recorded_where_requested(
    spans: Any, provided: Provided, said: str, on_span: int, logged: int
) -> None:
    settings.exceptions = signals({environment.EXCEPTIONS: said})
    with pytest.raises(ValueError, match="luck"):
        fail("no luck")
    assert (len(spans.only().events), len(provided.records)) == (on_span, logged)
    assert spans.only().status.description == "no luck"
    for record in provided.records:
        assert (record.event_name, record.severity_number) == ("exception", 17)
        assert record.attributes["exception.type"] == "ValueError"
        assert "no luck" in record.attributes["exception.stacktrace"]
        assert record.span_id == spans.only().context.span_id


def test_the_exception_event_of_a_client_operation_has_its_standard_name(
    spans: Any, provided: Provided
) -> None:
    settings.exceptions = Signals(spans=False, logs=True)
    failed_call()
    (record,) = provided.records
    assert (record.event_name, record.severity_number) == (gen_ai.EVENT_OPERATION_EXCEPTION, 13)


def test_an_exception_is_recorded_once_however_many_spans_it_passes(
    spans: Any, provided: Provided
) -> None:
    @agentool_otel.agent
    def clerk() -> None:
        fail("no luck")

    settings.exceptions = Signals(spans=False, logs=True)
    with pytest.raises(ValueError, match="luck"):
        clerk()
    assert len(provided.records) == 1


def test_without_a_consumer_the_exception_stays_on_the_span(spans: Any, provided: Provided) -> None:
    settings.exceptions = Signals(spans=False, logs=True)
    provided.wanted = False
    failed_call()
    assert [event.name for event in spans.only().events] == ["exception"]


def only_in_events(**more: Any) -> None:
    settings.configure(policy=Policy(capture=True, on_spans=False, in_events=True, **more))


def called() -> None:
    live = begin(CALLED)
    assert live is not None
    live.end(msgspec.structs.replace(CALLED, input=ASKED))


def test_the_content_of_an_event_is_structured_and_masked(spans: Any, provided: Provided) -> None:
    only_in_events()
    called()
    (record,) = provided.records
    assert record.event_name == gen_ai.EVENT_INFERENCE_DETAILS
    assert record.attributes[gen_ai.INPUT_MESSAGES] == [
        {"role": "user", "parts": [{"type": "text", "content": "hi [masked]"}]}
    ]
    assert type(record.attributes) is Masked
    assert (record.severity_number, record.body) == (0, None)
    assert gen_ai.INPUT_MESSAGES not in spans.attributes()


def test_redact_runs_once_and_may_return_plain_text(spans: Any, provided: Provided) -> None:
    requests: list[str] = []

    def redact(name: str, text: str) -> str:
        requests.append(name)
        return "redacted"

    only_in_events(redact=redact)
    called()
    spans.forget()  # plain text is not what the conventions want there
    assert provided.records[0].attributes[gen_ai.INPUT_MESSAGES] == "redacted"
    assert requests == [gen_ai.INPUT_MESSAGES]


def test_an_inference_without_content_has_its_event_and_a_tool_has_none(
    spans: Any, provided: Provided
) -> None:
    only_in_events(redact=lambda *_: None)
    called()

    @agentool_otel.tool
    def nothing() -> None: ...

    nothing()
    assert [record.event_name for record in provided.records] == [gen_ai.EVENT_INFERENCE_DETAILS]


def test_a_tool_has_an_event_of_the_agentool_spec(spans: Any, provided: Provided) -> None:
    @agentool_otel.tool
    def add(a: int, b: int) -> int:
        return a + b

    only_in_events()
    add(1, 2)
    (record,) = provided.records
    assert record.event_name == agentool.EVENT_DETAILS
    assert record.attributes == {
        gen_ai.OPERATION_NAME: "execute_tool",
        gen_ai.TOOL_NAME: "add",
        gen_ai.TOOL_TYPE: "function",
        gen_ai.TOOL_CALL_ARGUMENTS: {"a": 1, "b": 2},
        gen_ai.TOOL_CALL_RESULT: {"result": 3},
    }
    assert gen_ai.TOOL_CALL_RESULT not in spans.attributes()


@pytest.mark.parametrize("value", [2**64, {"n": -(2**70)}])
def test_content_that_no_structured_value_can_hold_stays_as_text(
    spans: Any, provided: Provided, value: object
) -> None:
    only_in_events()
    with agentool_otel.run("clerk") as result:
        result.tool_result(result.tool_call("search", {"q": value}), "found")
    record = provided.records[0]
    assert record.attributes[gen_ai.OPERATION_NAME] == "execute_tool"
    assert isinstance(record.attributes[gen_ai.TOOL_CALL_ARGUMENTS], str)
    assert record.attributes[gen_ai.TOOL_CALL_RESULT] == {"result": "found"}


def test_an_event_that_cannot_be_emitted_costs_only_the_event(
    spans: Any, provided: Provided, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError

    provider: Any = settings.logger()
    monkeypatch.setattr(provider, "emit", broken)
    settings.strict = False
    only_in_events()
    called()
    assert spans.only().end_time is not None
    assert gen_ai.INPUT_MESSAGES not in spans.attributes()


def test_the_event_of_an_operation_carries_its_identity(spans: Any, provided: Provided) -> None:
    only_in_events()

    @agentool_otel.tool
    def add(a: int) -> int:
        return a

    with agentool_otel.run("clerk", session_id="s1", user_id="u1"):
        called()
        add(1)
    keys = (gen_ai.AGENT_NAME, gen_ai.CONVERSATION_ID, "user.id")
    results = [tuple(map(record.attributes.get, keys)) for record in provided.records]
    assert results == [("clerk", "s1", "u1")] * 2
