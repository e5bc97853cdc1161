"""Bytes that are no UTF-8 cost the value they are in: every other value and span is what it was."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import Damage, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.files import span_files
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from tests.laws import many
from tests.reading.sources.encoders import ENCODERS, Encoder
from tests.reading.sources.encoders.otlp import otlp, proto_of, with_base64_ids
from tests.reading.sources.encoders.values import lines

BAD = [b"\xff", b"\x80", b"\xc3", b"\xe4\xbd", b"\xf0\x9f\x92", b"\xff\xfe", b"\xed\xa0\xbd"]
whole_texts = st.text(st.sampled_from("ab é你😀"), max_size=6)
damaged_texts = st.tuples(whole_texts, st.sampled_from(BAD), whole_texts).map(
    lambda parts: parts[0].encode() + parts[1] + parts[2].encode()
)
"""As bytes. Nothing in them is escaped in JSON, and each has three bytes or more before a limit."""


def mended(text: bytes) -> str:
    return re.sub("\ufffd+", "\ufffd", text.decode("utf-8", "replace"))


def token(length: int) -> str:
    """A text that stands nowhere else."""
    return "Q" + "z" * (length - 1)


def a_span(number: int) -> SpanRecord:
    start = 1_700_000_000_000_000_000 + number * 1_000_000
    return SpanRecord(
        trace_id="6a" * 16,
        span_id=f"{number + 0x1234567812345678:016x}",
        parent_id="6b" * 8,
        name=f"span {number}",
        kind="CLIENT",
        start_ns=start,
        end_ns=start + 5_000_000,
        attributes={"gen_ai.operation.name": "chat", "llm.x": "é said", "gen_ai.usage.n": number},
        events=[SpanEvent("an event", start, {"gen_ai.system": "x"})],
        links=[SpanLink("6c" * 16, "6d" * 8, {"x.y": "linked"})],
        status="ERROR",
        status_message="no luck",
        scope="a scope",
        resource={"service.name": "a service"},
    )


def in_name(span: SpanRecord, text: str) -> None:
    span.name = text


def in_attribute(span: SpanRecord, text: str) -> None:
    span.attributes = {**span.attributes, "llm.x": text}


def in_list(span: SpanRecord, text: str) -> None:
    span.attributes = {**span.attributes, "llm.x": ["one", text]}


def in_object(span: SpanRecord, text: str) -> None:
    span.attributes = {**span.attributes, "llm.x": {"city": text}}


def in_status_message(span: SpanRecord, text: str) -> None:
    span.status_message = text


def in_event_name(span: SpanRecord, text: str) -> None:
    span.events = [SpanEvent(text, span.events[0].time_ns, span.events[0].attributes)]


def in_event(span: SpanRecord, text: str) -> None:
    span.events = [SpanEvent("an event", span.events[0].time_ns, {"gen_ai.system": text})]


def in_link(span: SpanRecord, text: str) -> None:
    span.links = [SpanLink("6c" * 16, "6d" * 8, {"x.y": text})]


def in_scope(span: SpanRecord, text: str) -> None:
    span.scope = text


def in_resource(span: SpanRecord, text: str) -> None:
    span.resource = {"service.name": text}


PLACES = [
    in_name, in_attribute, in_list, in_object, in_status_message, in_event_name, in_event,
    in_link, in_scope, in_resource,
]  # fmt: skip
PLAIN = [encoder for encoder in ENCODERS if not re.search("gzip|zstd", encoder.name)]


@pytest.mark.parametrize("encoder", PLAIN, ids=lambda encoder: encoder.name)
@settings(max_examples=40)
@given(st.integers(0, 2), st.sampled_from(PLACES), damaged_texts)
def test_a_damaged_value_in_any_container_loses_only_itself(
    encoder: Encoder, number: int, place: Callable[[SpanRecord, str], None], text: bytes
) -> None:
    written = [a_span(n) for n in range(3)]
    place(written[number], token(len(text)))
    data = encoder.encode(written).replace(token(len(text)).encode(), text)
    source = SpanFiles([io.BytesIO(data)])
    read = list(source.spans())
    assert [shown(span) for span in read] == [
        shown(encoder.kept(span)).replace(token(len(text)), mended(text)) for span in written
    ]
    assert [bool(span.damaged) for span in read] == ["\ufffd" in shown(span) for span in read]


def shown(span: SpanRecord) -> str:
    """Without what is noted of damage, which the encoders know nothing of."""
    plain = msgspec.structs.replace(span, damaged=())
    return json.dumps(msgspec.to_builtins(plain), sort_keys=True, indent=1, ensure_ascii=False)


# ------------------------------------------------------------------- any text of an OTLP document


def a_document() -> dict[str, Any]:
    document: dict[str, Any] = otlp([a_span(n) for n in range(3)])
    for group in document["resourceSpans"]:
        for scoped in group["scopeSpans"]:
            for span in scoped["spans"]:
                span["kind"], span["traceState"] = "SPAN_KIND_CLIENT", "a=b"
                span["status"]["code"] = "STATUS_CODE_ERROR"
                span["attributes"].append({"key": "raw", "value": {"bytesValue": "AAEC"}})
                span["attributes"].append({"key": "d", "value": {"doubleValue": "NaN"}})
    return document


def places_of(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every text in a document, by what holds it and its name or number there."""
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        if isinstance(inner, str):
            yield value, key
        elif isinstance(inner, (dict, list)):
            yield from places_of(inner)


COUNT = len(list(places_of(a_document()["resourceSpans"][1]["scopeSpans"])))


def decoded(source: SpanFiles) -> list[SpanRecord]:
    return list(source.spans())


def left_undecoded(source: SpanFiles) -> list[SpanRecord]:
    items = (
        item.decode() if isinstance(item, UndecodedSpan) else item for item in source.undecoded()
    )
    return [span for span in items if span is not None]


@pytest.mark.parametrize("read", [decoded, left_undecoded])
@pytest.mark.parametrize("indent", [None, 1])
@settings(max_examples=many(200))
@given(st.integers(0, COUNT - 1), st.floats(0, 1), st.sampled_from(BAD))
def test_a_bad_byte_in_a_text_of_otlp_json_loses_only_that_text(
    read: Callable[[SpanFiles], list[SpanRecord]],
    indent: int | None,
    number: int,
    share: float,
    bad: bytes,
) -> None:
    document = a_document()
    complete = decoded(SpanFiles([io.BytesIO(json.dumps(document).encode())]))
    holder, key = list(places_of(document["resourceSpans"][1]["scopeSpans"]))[number]
    text = holder[key].encode()
    at = int(share * len(text))
    holder[key] = token(40)
    data = json.dumps(document, indent=indent, ensure_ascii=False).encode()
    source = SpanFiles([io.BytesIO(data.replace(token(40).encode(), text[:at] + bad + text[at:]))])
    result = read(source)

    out = [problem for problem in source.problems if "left out" in problem.message]
    assert len(result) + len(out) == 3
    assert len(source.problems) == len(out)
    assert bool(out) == ("kind" in holder and key in ("traceId", "spanId"))
    others = [span for span in result if span.span_id != complete[1].span_id]
    assert list(map(repr, others)) == [repr(complete[0]), repr(complete[2])]
    for span in result:
        if span.span_id == complete[1].span_id:
            assert span.trace_id == complete[1].trace_id
            assert span.parent_id is not None
            assert differences(span, complete[1]) == len(span.damaged) == (key != "traceState")


@settings(max_examples=many(200))
@given(st.integers(0, COUNT - 1), st.floats(0, 1), st.sampled_from(BAD))
def test_a_bad_byte_in_a_text_of_otlp_protobuf_loses_only_that_text(
    number: int, share: float, bad: bytes
) -> None:
    document = with_base64_ids(otlp([a_span(n) for n in range(3)]))
    complete = decoded(SpanFiles([io.BytesIO(proto_of(document))]))
    places = [*places_of(document["resourceSpans"][1]["scopeSpans"])]
    texts = [place for place in places if not re.search("Id$|Nano$|intValue", str(place[1]))]
    holder, key = texts[number % len(texts)]
    text = holder[key].encode()
    at = int(share * len(text))
    damaged = text[:at] + bad + text[at:]
    holder[key] = token(len(damaged))
    data = proto_of(document).replace(token(len(damaged)).encode(), damaged)
    source = SpanFiles([io.BytesIO(data)])
    result = decoded(source)
    assert source.problems == []
    assert [repr(result[n]) for n in (0, 2)] == [repr(complete[n]) for n in (0, 2)]
    assert differences(result[1], complete[1]) == len(result[1].damaged) == 1


def differences(one: SpanRecord, span: SpanRecord) -> int:
    """Return how many fields, or attributes among them, differ."""
    count = 0
    for name in one.__struct_fields__:
        mine, yours = getattr(one, name), getattr(span, name)
        if name == "attributes":
            keys = dict.fromkeys([*mine, *yours])
            changed = [key for key in keys if repr(mine.get(key, 0)) != repr(yours.get(key, 0))]
            count += len(changed) if len(mine) == len(yours) == len(keys) else 1
        elif name != "damaged":
            count += repr(mine) != repr(yours)
    return count


# ----------------------------------------------------------------------- what is noted, and where


@pytest.mark.parametrize(
    ("text", "cut"),
    [("né".encode()[:-1], True), (b"a\xffb", False), (b"\xff", True), (b"a\xffb\xff", True)],
)
def test_the_note_shows_whether_only_the_end_is_missing(text: bytes, cut: bool) -> None:
    span = damaged_at(in_attribute, text)
    assert span.damaged == (Damage("attributes.llm.x", cut=cut),)
    assert span.attributes["llm.x"] == mended(text)


@pytest.mark.parametrize(
    ("place", "where"),
    [
        (in_name, "name"),
        (in_scope, "scope"),
        (in_status_message, "status_message"),
        (in_object, "attributes.llm.x"),
        (in_event_name, "events[0].name"),
        (in_event, "events[0].attributes.gen_ai.system"),
        (in_link, "links[0].attributes.x.y"),
        (in_resource, "resource.service.name"),
    ],
)
def test_the_place_of_damage_is_noted(place: Callable[[SpanRecord, str], None], where: str) -> None:
    assert damaged_at(place, b"a\xffb").damaged == (Damage(where, cut=False),)


def damaged_at(place: Callable[[SpanRecord, str], None], text: bytes) -> SpanRecord:
    span = a_span(0)
    place(span, token(40))
    data = lines([otlp([span])]).replace(token(40).encode(), text)
    (result,) = SpanFiles([io.BytesIO(data)]).spans()
    return result


def test_a_damaged_attribute_name_does_not_replace_another() -> None:
    span = a_span(0)
    span.attributes = {"a\ufffd": 1, token(40): 2}
    data = lines([otlp([span])]).replace(token(40).encode(), b"a\xff")
    (result,) = SpanFiles([io.BytesIO(data)]).spans()
    assert result.attributes == {"a\ufffd": 1, "a\ufffd\ufffd": 2}


def test_recorded_replacement_characters_are_not_damage() -> None:
    span = a_span(0)
    span.attributes = {"llm.x": "a\ufffdb"}
    (result,) = SpanFiles([io.BytesIO(lines([otlp([span])]))]).spans()
    assert (result.attributes, result.damaged) == ({"llm.x": "a\ufffdb"}, ())


@pytest.mark.parametrize("name", ["OTLP lines", "OTLP snake", "OTLP in a row", "Jaeger UI"])
@pytest.mark.parametrize("half", ["\\ud83d", "\\ude00", "\\udcff"])
def test_half_a_surrogate_pair_loses_only_its_value(name: str, half: str) -> None:
    (encoder,) = (encoder for encoder in ENCODERS if encoder.name == name)
    spans = [a_span(n) for n in range(3)]
    in_attribute(spans[1], f"a{token(40)}")
    data = encoder.encode(spans).replace(token(40).encode(), half.encode())
    result = list(SpanFiles([io.BytesIO(data)]).spans())
    assert [span.attributes["llm.x"] for span in result] == ["é said", "a\ufffd", "é said"]
    assert [span.damaged for span in result] == [(), (Damage("attributes.llm.x", cut=True),), ()]


def test_a_surrogate_pair_is_one_character() -> None:
    span = damaged_at(in_attribute, b"\\ud83d\\ude00 \\ud83d")
    assert span.attributes["llm.x"] == "😀 \ufffd"


def test_a_damaged_id_loses_its_span_and_is_reported_readably() -> None:
    document = json.dumps({"data": [{"traceID": "1" * 32, "spans": [], "processes": {}}]})
    span = {"traceID": "1" * 32, "spanID": token(40), "operationName": "x", "startTime": 1}
    document = document.replace('"spans": []', f'"spans": [{json.dumps(span)}]')
    data = document.encode().replace(token(40).encode(), b"12\xff45678")
    source = SpanFiles([io.BytesIO(data)])
    assert list(source.spans()) == []
    (problem,) = source.problems
    assert "'12\ufffd45678'" in problem.message


def test_a_cell_of_a_table_is_a_value() -> None:
    rows = [f"{n + 1:032x},{n + 1:016x},{text}" for n, text in enumerate(("a", token(9), "b"))]
    table = "\n".join(["trace_id,span_id,name", *rows]).encode()
    source = SpanFiles([io.BytesIO(table.replace(token(9).encode(), b"a\xe4\xbd"))])
    spans = list(source.spans())
    assert [span.name for span in spans] == ["a", "a\ufffd", "b"]
    assert [len(span.damaged) for span in spans] == [0, 1, 0]


def test_a_damaged_document_is_read_and_the_damage_reported() -> None:
    documents: list[ReasoningTrace] = []
    data = b'{"trace_id":"t","steps":[{"type":"reasoning","content":"a\xff"}]}\n'
    source = SpanFiles([io.BytesIO(data)])
    source.document = documents.append
    assert list(source.spans()) == []
    assert documents[0].to_dict()["steps"][0]["content"] == "a\ufffd"
    assert "no UTF-8" in source.problems[0].message


# ------------------------------------------------------------------ on the way through large files


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(st.integers(0, 99), damaged_texts, st.sampled_from([1, 1 << 26]))
def test_damage_is_noted_on_spans_sorted_in_memory_or_on_disk(
    tmp_path_factory: pytest.TempPathFactory, number: int, text: bytes, budget: int
) -> None:
    spans = [a_span(n) for n in range(100)]
    for n, span in enumerate(spans):
        span.trace_id = f"{n // 2 + 1:032x}"
    in_attribute(spans[number], token(40))
    file = tmp_path_factory.mktemp("large") / "spans.jsonl"
    data = lines([otlp([span]) for span in spans]).replace(token(40).encode(), text)
    file.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(span_files, "_LARGE", 1)
        source = SpanFiles([file])
        traces = list(by_trace(source.undecoded(), budget))
    results = {span.span_id: span for trace in traces for span in trace}
    assert len(results) == 100
    assert source.problems == []
    damaged = {span_id for span_id, span in results.items() if span.damaged}
    assert damaged == {spans[number].span_id}
    assert results[spans[number].span_id].attributes["llm.x"] == mended(text)


@pytest.mark.parametrize("bad", BAD)
def test_damage_is_noted_on_spans_saved_from_a_damaged_document(bad: bytes) -> None:
    spans = [a_span(n) for n in range(6)]
    in_attribute(spans[1], token(40))
    data = b'{"data": [' + b",".join(json.dumps(otlp([span])).encode() for span in spans)
    source = SpanFiles([io.BytesIO(data.replace(token(40).encode(), b"a" + bad + b"b"))])
    result = list(source.spans())
    assert [span.attributes["llm.x"] for span in result if span.damaged] == ["a\ufffdb"]
    assert len(result) == 6
