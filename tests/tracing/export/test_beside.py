"""OpenInference's names beside ours on the way to a receiver, and nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext

from agentool_otel.cli.recover import recover
from agentool_otel.content.policy import Policy
from agentool_otel.ground import environment
from agentool_otel.model.spans import SpanRecord
from agentool_otel.otlp.protobuf_decoder import decode_span
from agentool_otel.otlp.protobuf_encoder import encode_span, is_whole, scope_of
from agentool_otel.otlp.protobuf_encoder import span_of as bytes_of_span
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.second_vocabulary import add_vocabulary
from agentool_otel.tracing.export.send.otlp import OtlpTarget, target_from_environment
from tests.tracing.export.receiver import HttpReceiver, Reply, spans_in
from tests.tracing.export.samples import finished, values

MOST = 15_000_000
DOWN = "http://127.0.0.1:9"


def said(words: str) -> str:
    return json.dumps([{"role": "user", "parts": [{"type": "text", "content": words}]}])


def span_of(attributes: dict[str, Any], scope: str = "agentool_otel") -> ReadableSpan:
    return ReadableSpan(
        "span",
        SpanContext(1, 2, False),
        attributes=attributes,
        instrumentation_scope=InstrumentationScope(scope),
        start_time=1,
    )


def call(words: str, **others: Any) -> ReadableSpan:
    """A model call with an input."""
    return span_of(
        {"gen_ai.operation.name": "chat", "gen_ai.input.messages": said(words), **others}
    )


def read(request: bytes) -> SpanRecord:
    [span] = SpanFiles([BytesIO(request)]).spans()
    return span


# -------------------------------------------------------------------------------------- one request


@given(st.dictionaries(st.text(min_size=1), values))
def test_attributes_are_decoded_like_by_every_other_reader(attributes: dict[str, Any]) -> None:
    request = encode_span(span_of(attributes))
    result, right = decode_span(request), read(request)
    assert repr(result.attributes) == repr(right.attributes)


@pytest.mark.parametrize("span", finished())
def test_ids_name_start_and_scope_are_decoded_too(span: ReadableSpan) -> None:
    request = encode_span(span)
    result, right = decode_span(request), read(request)
    for member in ("trace_id", "span_id", "name", "start_ns", "scope"):
        assert getattr(result, member) == getattr(right, member)


def test_a_request_gains_the_names_and_nothing_else_changes() -> None:
    request = encode_span(call("hi"))
    vocabulary = add_vocabulary(request, MOST)
    assert is_whole(vocabulary)
    before, after = read(request), read(vocabulary)
    new = {k: after.attributes.pop(k) for k in after.attributes.keys() - before.attributes.keys()}
    assert after == before
    assert json.loads(new["input.value"]) == {"messages": [{"role": "user", "content": "hi"}]}


@pytest.mark.parametrize("span", [*finished(), span_of({"gen_ai.operation.name": "chat"}, "other")])
def test_a_foreign_span_stays_the_same_to_the_byte(span: ReadableSpan) -> None:
    request = encode_span(span)
    sent = add_vocabulary(request, MOST)
    assert (bytes_of_span(sent), scope_of(sent)) == (bytes_of_span(request), scope_of(request))


def of_program(resource: dict[str, Any], scope: str) -> bytes:
    span = span_of({"gen_ai.operation.name": "chat"}, scope)
    return encode_span(
        ReadableSpan(
            "span",
            span.context,
            resource=Resource(resource),
            attributes=span.attributes,
            instrumentation_scope=span.instrumentation_scope,
            start_time=1,
        )
    )


@pytest.mark.parametrize("scope", ["agentool_otel", "another"])
def test_the_service_is_the_project_of_all_spans(scope: str) -> None:
    """A server shows a trace in one project, whoever made its spans."""
    request = add_vocabulary(of_program({"service.name": "shop", "a": 1}, scope), MOST)
    assert is_whole(request)
    assert read(request).resource == {
        "service.name": "shop",
        "a": 1,
        "openinference.project.name": "shop",
    }


@pytest.mark.parametrize(
    "resource",
    [{}, {"service.name": "unknown_service:python"}, {"openinference.project.name": "mine"}],
)
def test_a_project_is_neither_invented_nor_replaced(resource: dict[str, Any]) -> None:
    if "openinference.project.name" in resource:
        resource = {"service.name": "shop", **resource}
    assert read(add_vocabulary(of_program(resource, "agentool_otel"), MOST)).resource == resource


@pytest.mark.parametrize("size", [1_000, 400_000, 900_000])
@pytest.mark.parametrize("character", ["x", '"', "ä", "\\"])
def test_a_large_span_stays_below_what_receivers_accept(size: int, character: str) -> None:
    tools = json.dumps([{"type": "function", "name": "t", "description": character * size}])
    words = character * (size // 2)
    span = call(words, **{"gen_ai.output.messages": said(words), "gen_ai.tool.definitions": tools})
    request = encode_span(span)
    vocabulary = add_vocabulary(request, MOST)
    assert len(vocabulary) <= max(len(request), 3 << 20) + (16 << 10)
    value = read(vocabulary).attributes["input.value"]
    assert len(value.encode()) <= 1 << 20
    json.loads(value)


def test_too_many_documents_are_only_written_under_our_own_name() -> None:
    text = json.dumps([{"id": str(n), "content": "x" * 90} for n in range(9_000)])
    retrieval = {"gen_ai.operation.name": "retrieval", "gen_ai.retrieval.query.text": "?"}
    for count, expected in ((0, True), (3, False)):
        more = {f"app.{n}": "x" * 900_000 for n in range(count)}
        span = span_of({**retrieval, "gen_ai.retrieval.documents": text, **more})
        attributes = read(add_vocabulary(encode_span(span), MOST)).attributes
        assert attributes["input.value"] == "?"
        assert ("retrieval.documents.0.document.id" in attributes) is expected


def test_a_span_without_room_for_the_names_is_sent_without_them() -> None:
    request = encode_span(call("hi"))
    assert add_vocabulary(request, len(request) + 10) == request


def test_a_request_that_cannot_be_rewritten_loses_only_the_names() -> None:
    deep = "[" * 5_000 + "]" * 5_000
    spans = [call("hi"), span_of({"gen_ai.operation.name": "chat", "gen_ai.input.messages": deep})]
    for span in spans:
        assert read(add_vocabulary(encode_span(span), MOST)).name == "span"


@pytest.mark.parametrize("damage", [b"", b"\x0a", b"\x0a\x05\x0a\x7f\x7f\x7f\x7f", b"\xff" * 40])
def test_a_damaged_request_raises_nothing(damage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentool_otel.tracing.spans.settings.settings.strict", False)
    assert add_vocabulary(damage, MOST) == damage


# ------------------------------------------------------------------------------------- on the way


Sent = Callable[..., None]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "folder"


def sending(endpoint: str, folder: Path | None, also: str | None) -> Pipeline:
    pipeline = Pipeline()
    pipeline.send(OtlpTarget.at(endpoint, {"AGENTOOL_ALSO": also or ""}), folder)
    return pipeline


def work(pipeline: Pipeline, *words: str) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    tracer = provider.get_tracer("agentool_otel.instrumentation.openai")
    for word in words:
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": said(word)}
        tracer.start_span(word, attributes=attributes).end()


def arrived(receiver: HttpReceiver) -> list[tuple[str, bool]]:
    """Names of the spans that arrived, and whether they had the other names."""
    spans = [span for body in receiver.bodies["/v1/traces"] for span in spans_in(body)]
    return [
        (span.name, "input.value" in {attribute.key for attribute in span.attributes})
        for span in spans
    ]


@pytest.mark.parametrize("also", ["openinference", "none", None])
@pytest.mark.parametrize("on_disk", [True, False])
def test_spans_are_sent_with_the_names_if_requested(
    folder: Path, also: str | None, on_disk: bool
) -> None:
    with HttpReceiver() as receiver:
        pipeline = sending(receiver.endpoint, folder if on_disk else None, also)
        work(pipeline, "a", "b")
        pipeline.shutdown()
        assert arrived(receiver) == [(name, also == "openinference") for name in "ab"]


SECRET = "sk-proj-abcdefghijklmnopqrstuvwx"


@pytest.mark.parametrize("capture", [True, False])
def test_the_names_reveal_nothing_masked_redacted_or_not_captured(
    folder: Path, capture: bool
) -> None:
    policy = Policy(capture=capture, redact=lambda name, text: text.replace("Rome", "***"))
    with HttpReceiver() as receiver:
        pipeline = sending(receiver.endpoint, folder, "openinference")
        pipeline.stages.append(Masking(policy))
        work(pipeline, f"to Rome with {SECRET}")
        pipeline.shutdown()
        assert [shown for _, shown in arrived(receiver)] == [capture]
        [body] = receiver.bodies["/v1/traces"]
    [span] = spans_in(body)
    output = b"".join(attribute.SerializeToString() for attribute in span.attributes)
    assert (b"Rome" in output, SECRET.encode() in output, b"***" in output) == (
        False,
        False,
        capture,
    )


def test_a_request_refused_for_its_size_arrives_in_parts(folder: Path) -> None:
    def reply(body: bytes) -> Reply:
        return (413 if len(body) > 2_000 else 200), {}, b""

    with HttpReceiver(reply=reply) as receiver:
        pipeline = sending(receiver.endpoint, folder, "openinference")
        work(pipeline, *(f"{n}" for n in range(20)))
        pipeline.shutdown()
        assert arrived(receiver) == [(f"{n}", True) for n in range(20)]
        assert pipeline.counts()["exported"] == 20


def test_a_recording_has_no_names_of_the_other_vocabulary(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_ALSO", "openinference")
    pipeline = Pipeline()
    pipeline.record(tmp_path)
    work(pipeline, "a")
    pipeline.shutdown()
    [span] = open_source(tmp_path).spans()
    assert span.attributes.keys() == {"gen_ai.operation.name", "gen_ai.input.messages"}


@pytest.mark.parametrize("also", ["openinference", None])
def test_spooled_spans_are_sent_as_their_own_process_was_configured(
    folder: Path, also: str | None
) -> None:
    """By the next process that sends there, however it is configured, and by `recover`."""
    text = "none" if also else "openinference"
    for recovers in (True, False):
        with HttpReceiver() as receiver:
            endpoint = receiver.endpoint
        pipeline = sending(endpoint, folder, also)  # nobody answers there any more
        work(pipeline, "left")
        pipeline.shutdown()
        port = int(endpoint.rpartition(":")[2])
        with HttpReceiver(port=port) as receiver:
            if recovers:
                recover(folder)
            else:
                later = sending(endpoint, folder, text)
                work(later, "own")
                later.shutdown()
            assert ("left", also is not None) in arrived(receiver)


@pytest.mark.parametrize("of", [OtlpTarget.at, target_from_environment])
def test_an_unknown_vocabulary_is_refused_with_a_list_of_the_known_ones(
    of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_ALSO", "phoenix")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", DOWN)
    assert of(*([DOWN] if of == OtlpTarget.at else []), os.environ).also is None
    refused = environment.refused()["AGENTOOL_ALSO"]
    assert refused.startswith("AGENTOOL_ALSO=phoenix is not supported: use openinference, or")
