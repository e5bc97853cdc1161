"""The law of span objects: a span is recognised by its values, however its fields are spelt.

Spans are written as plain objects in every style of names, inside every kind of envelope; `rebuild`
gives the same documents. What stands beside the attributes of a span belongs to it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model import operations as ops
from agentool_otel.model.spans import SpanRecord
from tests.laws import many
from tests.programs import WRITERS, numbered, programs, read_file, rebuilt, spans_of, words
from tests.reading.sources.encoders import ENCODERS, Encoder

Json = Any


def dumps(value: Json) -> bytes:
    return json.dumps(value).encode()


def under_their_names(spans: list[Json]) -> bytes:
    """Return spans as members of an object that is named after them, where names allow that."""
    (name,) = {key for key in spans[0] if re.sub("[^a-z]", "", key.lower()) in NAMES}
    if len({span[name] for span in spans}) < len(spans):
        return dumps(spans)
    return dumps({span[name]: {k: v for k, v in span.items() if k != name} for span in spans})


def words_in(name: str) -> list[str]:
    return re.findall("[A-Z]?[a-z]+", name)


ENVELOPED = [
    encoder
    for encoder in ENCODERS
    if encoder.name
    in ("OTLP lines", "bare spans", "nested names", "ADOT", "Phoenix data frame", "TruLens",
        "ClickHouse", "VictoriaTraces", "columns")
]  # fmt: skip
"""Those whose files are JSON lines."""
NAMES = {"name", "spanname", "operationname"}
HEADERS = ["schema_version", "format", "version", "run_id", "session_id", "status"]
STYLES: dict[str, Callable[[str], str]] = {
    "camel": lambda name: name,
    "snake": lambda name: "_".join(words_in(name)).lower(),
    "Pascal": lambda name: name[0].upper() + name[1:],
    "lower": str.lower,
    "kebab": lambda name: "-".join(words_in(name)).lower(),
    "upper snake": lambda name: "_".join(words_in(name)).upper(),
    "spaced": lambda name: " ".join(words_in(name)).lower(),
}
FIELDS = [
    ("traceId", "spanId", "parentSpanId", "name", "startTime", "endTime", "attributes"),
    ("traceId", "id", "parentId", "spanName", "startTime", "endTime", "spanAttributes"),
    ("traceId", "spanId", "parentId", "operationName", "startTimeUnixNano", "endTimeUnixNano",
     "attributes"),
]  # fmt: skip
ENVELOPES: dict[str, Callable[[list[Json]], bytes]] = {
    "a list": dumps,
    "lines": lambda spans: b"\n".join(map(dumps, spans)),
    "one after another": lambda spans: b"".join(map(dumps, spans)),
    "a list under any key": lambda spans: dumps({"zz": {"rows": spans}, "count": len(spans)}),
    "an object per span": lambda spans: dumps({f"op {n}": span for n, span in enumerate(spans)}),
    "beside a trace": lambda spans: dumps({"trace": {"name": "x", "id": 1}, "spans": spans}),
    "under their names": under_their_names,
    "lists under several keys": lambda spans: dumps({"a": spans[:1], "b": {"c": spans[1:]}}),
}


@pytest.mark.parametrize("envelope", ENVELOPES)
@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=many(25, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    fields=st.sampled_from(FIELDS),
    as_text=st.booleans(),
)
def test_a_span_is_recognised_in_any_spelling(
    envelope: str,
    style: str,
    program: list[ops.Operation],
    writer: str,
    fields: tuple[str, ...],
    as_text: bool,
) -> None:
    spans = plain(program, writer)
    objects = written(spans, fields, STYLES[style], as_text)
    assert rebuilt(ENVELOPES[envelope](objects)) == rebuilt(ENCODERS[0].encode(spans))


@pytest.mark.parametrize("envelope", ENVELOPES)
@settings(max_examples=many(50, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    style=st.sampled_from([*STYLES]),
    fields=st.sampled_from(FIELDS),
)
def test_spans_that_name_no_trace_are_one_trace(
    envelope: str,
    program: list[ops.Operation],
    writer: str,
    style: str,
    fields: tuple[str, ...],
) -> None:
    spans = plain(program, writer)
    objects = written(spans, fields, STYLES[style], as_text=False)
    for item in objects:
        del item[STYLES[style]("traceId")]
    expected = numbered(rebuilt(ENCODERS[0].encode(spans)))
    assert numbered(rebuilt(ENVELOPES[envelope](objects))) == expected


@pytest.mark.parametrize("envelope", ENVELOPES)
@settings(max_examples=many(50, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    fields=st.sampled_from(FIELDS),
    as_text=st.booleans(),
    data=st.data(),
)
def test_an_attribute_beside_the_others_belongs_to_the_span(
    envelope: str,
    program: list[ops.Operation],
    writer: str,
    fields: tuple[str, ...],
    as_text: bool,
    data: st.DataObject,
) -> None:
    spans = plain(program, writer)
    objects = written(spans, fields, STYLES["camel"], as_text)
    for item in objects:
        inside = json.loads(item[fields[-1]]) if as_text else {**item[fields[-1]]}
        for name in data.draw(st.sets(st.sampled_from([*inside]))) if inside else ():
            item[name] = inside.pop(name)
        item[fields[-1]] = json.dumps(inside) if as_text else inside
    assert rebuilt(ENVELOPES[envelope](objects)) == rebuilt(ENCODERS[0].encode(spans))


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=many(50, fewer=5))
@given(program=programs(), writer=st.sampled_from([*WRITERS]), as_text=st.booleans())
def test_what_stands_beside_attributes_alone_belongs_to_their_span(
    style: str, program: list[ops.Operation], writer: str, as_text: bool
) -> None:
    spans = plain(program, writer)
    objects = written(spans, FIELDS[0], STYLES[style], as_text)
    for span, item in zip(spans, objects, strict=True):
        span.parent_id = None
        for name in ("spanId", "parentSpanId"):
            del item[STYLES[style](name)]
    expected = numbered(rebuilt(ENCODERS[0].encode(spans)))
    assert numbered(rebuilt(ENVELOPES["lines"](objects))) == expected


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=many(50, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    fields=st.sampled_from(FIELDS),
    name=st.sampled_from(["children", "spans", "child_spans", "subSpans"]),
)
def test_spans_inside_a_span_are_below_it(
    style: str, program: list[ops.Operation], writer: str, fields: tuple[str, ...], name: str
) -> None:
    spans = plain(program, writer)
    root, *children = written(spans, fields, STYLES[style], as_text=False)
    for child in children:
        for member in ("traceId", fields[2]):
            del child[STYLES[style](member)]
    assert rebuilt(dumps({**root, name: children})) == rebuilt(ENCODERS[0].encode(spans))


@settings(max_examples=many(100, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    name=st.sampled_from(["tags", "attrs", "meta", "Data", "properties"]),
    as_text=st.booleans(),
    outside=st.booleans(),
)
def test_attributes_are_recognised_by_their_names(
    program: list[ops.Operation], writer: str, name: str, as_text: bool, outside: bool
) -> None:
    spans = plain(program, writer)
    objects = written(spans, (*FIELDS[0][:-1], name), STYLES["camel"], as_text)
    for item in objects if outside else ():
        del item["traceId"]
    trace_id = spans[0].trace_id if outside else None
    enveloped = dumps({"request": {"trace_id": trace_id, "spans": objects}})
    assert rebuilt(enveloped) == rebuilt(ENCODERS[0].encode(spans))


@settings(max_examples=many(100, fewer=5))
@given(program=programs(), question=words, answer=words, status=st.sampled_from(["ok", "failed"]))
def test_objects_around_the_trace_describe_its_run(
    program: list[ops.Operation], question: str, answer: str, status: str
) -> None:
    spans = [
        json.loads(line)
        for line in ENCODERS[0].encode(spans_of(program, WRITERS["OpenInference"])).splitlines()
    ]
    trace = {"trace_id": f"{0xA1B2C3D4E5F60718 << 64 | 1:032x}", "session_id": "s1", "items": spans}
    outer = {"input": question, "final_output": answer, "status": status, "trace": trace}
    [run] = rebuilt(dumps(outer))
    expected = "success" if status == "ok" else "error"
    assert (run["input"], run["output"], run["status"]) == (question, answer, expected)
    assert run["session_id"] == "s1"


def plain(program: list[ops.Operation], writer: str) -> list[SpanRecord]:
    """Return the spans of a program with what a plain object has."""
    spans = spans_of(program, WRITERS[writer])
    for span in spans:
        span.scope, span.resource, span.kind = "", {}, "INTERNAL"
    return spans


def written(
    spans: list[SpanRecord], fields: tuple[str, ...], style: Callable[[str], str], as_text: bool
) -> list[Json]:
    names = [style(field) for field in fields]
    return [dict(zip(names, values_of(span, as_text), strict=True)) for span in spans]


def values_of(span: SpanRecord, as_text: bool) -> tuple[Json, ...]:
    attributes = json.dumps(span.attributes) if as_text else span.attributes
    times = (span.start_ns, span.end_ns)
    return (span.trace_id, span.span_id, span.parent_id, span.name, *times, attributes)


@pytest.mark.parametrize("encoder", ENVELOPED, ids=lambda encoder: encoder.name)
@settings(max_examples=many(50, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    question=words,
    answer=st.one_of(words, st.dictionaries(words, words, min_size=1, max_size=2)),
    status=st.sampled_from(["success", "error", "timeout"]),
    snake=st.booleans(),
)
def test_members_beside_the_spans_describe_their_run(
    encoder: Encoder,
    program: list[ops.Operation],
    writer: str,
    question: str,
    answer: Json,
    status: str,
    snake: bool,
) -> None:
    spans = spans_of(program, WRITERS[writer])
    members = {
        "input": question,
        "final_output" if snake else "finalOutput": answer,
        "status": status,
        "session_id" if snake else "sessionId": "s1",
    }
    encoded = encoder.encode(spans)
    [plain_run] = rebuilt(encoded)
    enveloped = dumps({**members, "items": [*map(json.loads, encoded.splitlines())]})
    [run] = rebuilt(enveloped)
    expected = {"input": question, "output": answer, "status": status, "session_id": "s1"}
    assert {name: run[name] for name in expected} == expected
    assert all(run[name] == plain_run[name] for name in plain_run.keys() - expected.keys())


@settings(max_examples=many(50, fewer=5))
@given(program=programs(), writer=st.sampled_from([*WRITERS]), name=st.sampled_from(HEADERS))
def test_a_header_before_the_spans_is_no_problem(
    program: list[ops.Operation], writer: str, name: str
) -> None:
    spans = plain(program, writer)
    lines = [*map(dumps, written(spans, FIELDS[0], STYLES["snake"], as_text=False))]
    header = dumps({name: "1", "created": "2026-11-27"})
    reading = read_file(b"\n".join([header, *lines]))
    assert (reading.documents, reading.code) == (rebuilt(b"\n".join(lines)), 0)
    assert "no problems" in reading.words
