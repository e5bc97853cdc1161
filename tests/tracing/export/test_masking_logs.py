"""Masking of exported log records."""

from __future__ import annotations

from typing import Any

import pytest
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.content.masking.credentials import MASK
from agentool_otel.content.policy import Policy, Redact
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.tracing.export.masking.logs import mask_log
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.spans.events import Masked
from tests.tracing.export.logged import record

SECRET = "sk-proj-abcdefghijklmnopqrstuvwx"


def passed(log_record: LogRecord, capture: bool = True, redact: Redact | None = None) -> LogRecord:
    policy = Policy(capture=capture, redact=redact)
    return mask_log(Masking(policy), log_record)


def test_a_harmless_record_passes_as_the_same_object() -> None:
    result = record(body={"n": 1}, attributes={"a": "b"})
    assert passed(result) is result


@pytest.mark.parametrize("body", [f"with {SECRET}", {"a": [SECRET]}, [SECRET], SECRET.encode()])
def test_a_credential_is_masked_in_any_kind_of_body(body: Any) -> None:
    clean = passed(record(body=body, attributes={"api_key": "hunter2", "note": SECRET}))
    assert SECRET not in str(clean.body)
    assert MASK in str(clean.body)
    assert clean.attributes == {"api_key": MASK, "note": MASK}


@pytest.mark.parametrize("name", ["gen_ai.user.message", "gen_ai.choice", "gen_ai.content.prompt"])
def test_without_content_capture_a_content_event_keeps_only_its_identity(name: str) -> None:
    result = record(body="said", attributes={"gen_ai.system": "x", "note": "said"}, event_name=name)
    clean = passed(result, capture=False)
    assert (clean.body, clean.attributes) == (None, {"gen_ai.system": "x"})
    assert passed(result) is result


def test_an_event_named_by_attribute_is_recognised() -> None:
    result = record(body="said", attributes={"event.name": "gen_ai.user.message"})
    assert passed(result, capture=False).body is None


def test_other_events_lose_the_members_that_hold_content() -> None:
    body = {"input": {"messages": ["said"]}, "message": "said", "model": "m", "index": 1}
    result = record(body=body, event_name="strands.telemetry.tracer")
    assert passed(result, capture=False).body == {"model": "m", "index": 1}
    assert passed(result).body == body


def test_content_attributes_in_any_vocabulary_are_left_out() -> None:
    texts = {"gen_ai.input.messages": [{"content": "said"}], "user_prompt": "said", "n": 1}
    result = record(attributes=texts, event_name="gen_ai.client.inference.operation.details")
    assert passed(result, capture=False).attributes == {"n": 1}


def test_a_log_line_is_kept_without_its_credentials() -> None:
    assert passed(record(body=f"use {SECRET}"), capture=False).body == f"use {MASK}"


def test_redact_sees_content_bodies_and_stack_traces() -> None:
    log: list[str] = []

    def redact(name: str, text: str) -> str | None:
        log.append(name)
        return text.replace("said", "…")

    texts = {"input.value": "said", "other": "said", "exception.message": "said"}
    clean = passed(record(body={"content": "said"}, attributes=texts), redact=redact)
    assert clean.body == {"content": "…"}
    assert clean.attributes == {"input.value": "…", "other": "said", "exception.message": "…"}
    assert sorted(log) == ["body", "exception.message", "input.value"]


def test_content_that_redact_drops_is_left_out() -> None:
    clean = passed(record(body="said", attributes={"input.value": "x"}), redact=lambda *_: None)
    assert (clean.body, clean.attributes) == (None, {})


def test_a_raising_redact_hook_costs_only_the_value_it_was_given() -> None:
    def redact(name: str, text: str) -> str:
        raise RuntimeError

    clean = passed(record(body="said", attributes={"input.value": "x", "n": 1}), redact=redact)
    assert (clean.body, clean.attributes) == (None, {"n": 1})


def test_name_resource_and_scope_are_masked_too() -> None:
    leaking = LogRecord(
        resource=Resource({"note": SECRET}),
        scope=InstrumentationScope("s", attributes={"token": SECRET}),
        attributes={},
        observed_ns=1,
        event_name=f"call {SECRET}",
    )
    clean = passed(leaking)
    assert clean.event_name == f"call {MASK}"
    assert clean.resource.attributes["note"] == MASK
    assert dict(clean.scope.attributes or {}) == {"token": MASK}


def test_records_masked_at_capture_are_not_scanned_again() -> None:
    result = record(attributes=Masked({"gen_ai.input.messages": "x"}))
    requests: list[str] = []

    def redact(name: str, text: str) -> str:
        requests.append(name)
        return text

    assert passed(result, redact=redact) is result
    assert requests == []


def test_an_unreadable_record_keeps_its_identity_and_nothing_else() -> None:
    class Broken(dict[str, Any]):
        def items(self) -> Any:
            raise RuntimeError

    log_record = LogRecord(
        resource=record().resource, scope=record().scope, observed_ns=7, body=SECRET,
        attributes=Broken(a=SECRET),
    )  # fmt: skip
    clean = passed(log_record)
    assert (clean.attributes, clean.body, clean.observed_ns) == ({}, None, 7)
