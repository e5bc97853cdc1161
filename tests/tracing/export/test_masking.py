"""Masking of exported spans of any library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider

from agentool_otel.content.masking.credentials import MASK
from agentool_otel.content.policy import Policy, Redact
from agentool_otel.tracing.export.masking.spans import Masking

SECRET = "sk-proj-abcdefghijklmnopqrstuvwx"


def ended(
    use: Callable[[Any], Any], resource: Resource | None = None, limits: SpanLimits | None = None
) -> ReadableSpan:
    """A span of another library, as its provider hands it over."""
    provider = TracerProvider(
        resource=resource or Resource({}), shutdown_on_exit=False, span_limits=limits
    )
    with provider.get_tracer("other").start_as_current_span("work") as span:
        use(span)
    assert isinstance(span, ReadableSpan)
    return span


def masking(capture: bool = True, redact: Redact | None = None) -> Masking:
    fixed = Policy(capture=capture, redact=redact)
    return Masking(fixed)


def attributes(span: ReadableSpan) -> dict[str, Any]:
    return dict(span.attributes or {})


def test_a_harmless_span_passes_as_the_same_object() -> None:
    span = ended(lambda span: span.set_attribute("n", 1))
    assert masking()(span) is span


@pytest.mark.parametrize(
    "value", [SECRET, f'{{"a": "{SECRET}"}}', (SECRET,), SECRET.encode(), {"a": [SECRET]}]
)
def test_a_credential_is_masked_in_any_kind_of_attribute(value: Any) -> None:
    span = masking()(ended(lambda span: span.set_attribute("x", value)))
    assert SECRET not in str(attributes(span))
    assert MASK in str(attributes(span))


def test_an_attribute_named_like_a_credential_is_masked() -> None:
    span = masking()(ended(lambda span: span.set_attribute("client.api_key", "hunter2")))
    assert attributes(span) == {"client.api_key": MASK}


def test_events_status_name_and_resource_are_masked_too() -> None:
    def use(span: trace.Span) -> None:
        span.record_exception(ValueError(f"bad {SECRET}"))
        span.set_status(trace.StatusCode.ERROR, f"password={SECRET}")
        span.update_name(f"call {SECRET}")

    span = masking()(ended(use, Resource({"note": SECRET})))
    assert SECRET not in span.to_json()
    assert span.status.description == f"password={MASK}"


def test_the_original_span_is_not_changed() -> None:
    span = ended(lambda span: span.set_attribute("x", SECRET))
    masking()(span)
    assert attributes(span) == {"x": SECRET}


def test_content_in_any_vocabulary_is_left_out_when_capture_is_off() -> None:
    def use(span: trace.Span) -> None:
        for name in ("input.value", "llm.input_messages.0.message.content", "gen_ai.prompt.0.role",
                     "traceloop.entity.output", "gen_ai.input.messages"):  # fmt: skip
            span.set_attribute(name, "said")
        span.set_attribute("gen_ai.request.model", "m")
        span.add_event("gen_ai.user.message", {"content": "said", "role": "user"})

    span = masking(capture=False)(ended(use))
    assert attributes(span) == {"gen_ai.request.model": "m"}
    assert dict(span.events[0].attributes or {}) == {"role": "user"}


def test_redact_sees_the_content_and_errors_of_every_library() -> None:
    log: list[str] = []

    def redact(name: str, text: str) -> str | None:
        log.append(name)
        return None if name == "output.value" else "redacted"

    def use(span: trace.Span) -> None:
        span.set_attributes({"input.value": "a", "output.value": "b", "other": "c"})
        span.record_exception(ValueError("d"))

    span = masking(redact=redact)(ended(use))
    assert attributes(span) == {
        "input.value": "redacted",
        "other": "c",
        "agentool.content.redacted": ["input.value", "output.value"],
    }
    assert (span.events[0].attributes or {})["exception.message"] == "redacted"
    assert "output.value" in log


def test_a_raising_redact_hook_costs_the_attribute() -> None:
    def redact(name: str, text: str) -> str:
        raise RuntimeError

    guard = masking(redact=redact)
    span = guard(ended(lambda span: span.set_attributes({"input.value": "a", "other": "c"})))
    assert attributes(span) == {"other": "c", "agentool.content.redacted": ["input.value"]}
    assert guard.dropped == 1


def test_an_unreadable_span_keeps_its_identity_and_nothing_else() -> None:
    class Broken(ReadableSpan):
        @property
        def links(self) -> Any:
            raise RuntimeError

    complete = ended(lambda span: span.set_attribute("x", SECRET))
    broken = Broken("work", complete.context, attributes=complete.attributes)
    left = masking()(broken)
    assert left.attributes == {}
    assert left.get_span_context() == complete.get_span_context()


def test_the_sdks_counts_of_dropped_items_are_kept() -> None:
    def use(span: trace.Span) -> None:
        for i in range(5):
            span.set_attribute(f"x{i}", SECRET)

    span = masking()(ended(use, limits=SpanLimits(max_span_attributes=3)))
    assert (len(attributes(span)), span.dropped_attributes) == (3, 2)


def test_attributes_masked_at_capture_are_not_scanned_again(spans: Any) -> None:
    import agentool_otel

    @agentool_otel.tool
    def find(query: str) -> str:
        return query

    find(SECRET)
    lookup: list[str] = []

    def redact(name: str, text: str) -> str:
        lookup.append(name)
        return text

    guard = masking(redact=redact)
    assert guard(spans.only()) is spans.only()
    assert lookup == []


def test_attributes_others_add_to_our_span_are_scanned(spans: Any) -> None:
    import agentool_otel

    @agentool_otel.tool
    def find() -> None:
        trace.get_current_span().set_attribute("note", SECRET)

    find()
    assert attributes(masking()(spans.only()))["note"] == MASK


def test_a_structured_attribute_stays_structured_after_redact() -> None:
    span = ended(lambda span: span.set_attribute("gen_ai.input.messages", [{"content": "said"}]))
    clean = masking(redact=lambda name, text: text.replace("said", "…"))(span)
    assert attributes(clean)["gen_ai.input.messages"] == [{"content": "…"}]


PARAMETERS = "llm.invocation_parameters"


def left_of(value: object) -> object:
    """Return the visible rest of an attribute with settings where content is off."""
    span = ended(lambda span: span.set_attribute(PARAMETERS, value))
    return attributes(masking(capture=False)(span)).get(PARAMETERS)


def test_settings_are_kept_without_the_members_that_hold_content() -> None:
    assert left_of('{"model":"m","tools":[{"name":"f"}],"instructions":"i"}') == '{"model":"m"}'
    text = '{"model": "m", "temperature": 0.5}'
    assert left_of(text) == text


@pytest.mark.parametrize("name", ["stop", "stop_sequences", "stopSequences"])
def test_settings_are_kept_without_stop_sequences(name: str) -> None:
    assert left_of(f'{{"model":"m","{name}":["canary"]}}') == '{"model":"m"}'


@pytest.mark.parametrize("value", ["instructions: be kind", '{"instructions": "cut', "[1]", ["x"]])
def test_settings_that_are_no_object_are_left_out(value: object) -> None:
    assert left_of(value) is None


def test_settings_stay_whole_where_content_is_wanted() -> None:
    value = '{"model":"m","instructions":"be kind"}'
    span = ended(lambda span: span.set_attribute(PARAMETERS, value))
    assert masking()(span) is span
