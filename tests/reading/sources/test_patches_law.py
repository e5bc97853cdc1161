"""The law of patches: records that complete an earlier one are one span with it.

SDKs of stores send a span when it starts and complete it when it ends, by its id.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model import operations as ops
from agentool_otel.model.spans import SpanRecord
from tests.laws import many
from tests.programs import START, WRITERS, numbered, programs, read_file, rebuilt, spans_of
from tests.reading.sources.encoders import ENCODERS, Encoder

_WHOLE_ONLY = {
    *("JavaScript console", "Jaeger UI", "Zipkin", "ClickHouse", "SigNoz"),  # a start, a duration
    *("Phoenix", "Phoenix data frame"),  # a kind of its own on each record
}
"""Encoders that cannot write a part of a span."""


def post_of(span: SpanRecord, names: set[str]) -> SpanRecord:
    """Return what is known of a span at its start, with some of its attributes."""
    attributes = {name: span.attributes[name] for name in span.attributes if name in names}
    return msgspec.structs.replace(span, end_ns=None, attributes=attributes)


def patch_of(span: SpanRecord, names: set[str]) -> SpanRecord:
    """Return the rest of a span, under its ids."""
    attributes = {name: span.attributes[name] for name in span.attributes if name not in names}
    return msgspec.structs.replace(span, name="", start_ns=None, attributes=attributes)


@pytest.mark.parametrize(
    "encoder",
    [encoder for encoder in ENCODERS if encoder.name not in _WHOLE_ONLY],
    ids=lambda encoder: encoder.name,
)
@settings(max_examples=many(50, fewer=10))
@given(program=programs(), writer=st.sampled_from([*WRITERS]), data=st.data())
def test_a_post_and_its_patch_are_one_span(
    encoder: Encoder, program: list[ops.Operation], writer: str, data: st.DataObject
) -> None:
    spans = spans_of(program, WRITERS[writer])
    records: list[SpanRecord] = []
    for span in spans:
        names = data.draw(st.sets(st.sampled_from([*span.attributes])))
        records += [post_of(span, names), patch_of(span, names)]
    records = data.draw(st.permutations(records))
    assert rebuilt(encoder.encode(records)) == rebuilt(encoder.encode(spans))


def run_of(number: int, parent: int | None, **members: Any) -> dict[str, Any]:
    return {
        "id": f"{number:032x}",
        "trace_id": f"{1:032x}",
        "parent_run_id": None if parent is None else f"{parent:032x}",
        "dotted_order": "20261127T130000000000Z" + f"{number:032x}",
        **members,
    }


def test_a_langsmith_batch_is_read() -> None:
    posts = [
        run_of(1, None, name="assistant", run_type="chain", inputs={"input": "hi"},
               start_time="2026-11-27T13:00:00"),
        run_of(2, 1, name="search", run_type="tool", inputs={"q": "x"},
               start_time="2026-11-27T13:00:01"),
    ]  # fmt: skip
    patches = [
        run_of(2, 1, end_time="2026-11-27T13:00:02", outputs={"output": "found"}),
        run_of(1, None, end_time="2026-11-27T13:00:03", outputs={"output": "done"}),
    ]
    body = json.dumps({"post": posts, "patch": patches}).encode()
    whole = [{**post, **patch} for post, patch in zip(posts, reversed(patches), strict=True)]
    reading = read_file(body)
    assert reading.documents == rebuilt(json.dumps(whole).encode())
    [run] = reading.documents
    assert [step["type"] for step in run["steps"]] == ["tool_call", "tool_result"]
    assert (run["input"], run["output"], run["status"]) == ("hi", "done", "success")


@pytest.mark.parametrize("missing", ["dotted_order", "trace_id", "parent_run_id"])
def test_a_langsmith_patch_needs_no_more_than_the_id(missing: str) -> None:
    post = run_of(1, None, name="search", run_type="tool", inputs={"q": "x"},
                  start_time="2026-11-27T13:00:01")  # fmt: skip
    patch = run_of(1, None, end_time="2026-11-27T13:00:02", outputs={"output": "found"})
    del patch[missing]
    [run] = rebuilt(json.dumps({"post": [post], "patch": [patch]}).encode())
    assert run["steps"][1]["tool_result"]["output"] == "found"


def test_a_langfuse_batch_is_read() -> None:
    trace = {"id": "t-1", "name": "assistant", "sessionId": "s1", "input": "hi", "output": "done"}
    agent = {"id": "o-1", "traceId": "t-1", "type": "AGENT", "name": "assistant",
             "startTime": "2026-11-27T13:00:00Z"}  # fmt: skip
    call = {"id": "o-2", "traceId": "t-1", "parentObservationId": "o-1", "name": "chat",
            "startTime": "2026-11-27T13:00:01Z", "model": "m-1", "input": "hi"}  # fmt: skip
    ends = {"endTime": "2026-11-27T13:00:02Z", "output": "done"}
    usage = {"usage": {"input": 3, "output": 4, "unit": "TOKENS"}}
    batch = [
        {"id": "e1", "type": "trace-create", "body": trace},
        {"id": "e2", "type": "observation-create", "body": agent},
        {"id": "e3", "type": "generation-create", "body": call},
        {"id": "e4", "type": "generation-update",
         "body": {"id": "o-2", "traceId": "t-1", **ends, **usage}},
        {"id": "e5", "type": "observation-update",
         "body": {"id": "o-1", "traceId": "t-1", "type": "AGENT", **ends}},
    ]  # fmt: skip
    reading = read_file(json.dumps({"batch": batch}).encode())
    observations = [{**agent, **ends}, {**call, "type": "GENERATION", **ends, **usage}]
    exported = {**trace, "observations": observations}
    assert numbered(reading.documents) == numbered(rebuilt(json.dumps(exported).encode()))
    [run] = reading.documents
    assert (run["session_id"], run["output"]) == ("s1", "done")
    assert run["metrics"]["total_tokens"] == 7


ODD: list[Any] = [[], {}, 3, None, True, "x", 1.5, 2**70]


@pytest.mark.parametrize("value", ODD, ids=str)
def test_members_of_any_type_are_no_exception(value: Any) -> None:
    body = {"id": value, "traceId": value, "type": value, "usage": {"input": value}}
    run = {"id": value, "trace_id": value, "run_type": value, "inputs": value}
    child = {"name": "y", "start": START, "tool_name": "t", "tool_input": value, "result": value}
    ids = {"trace_id": "1", "span_id": "2"}
    span = {**ids, "name": "x", "start": value, "error": value, "children": [value, child]}
    for document in (
        {"batch": [{"type": kind, "body": body} for kind in ("trace-create", "span-update")]},
        {"post": [run], "patch": [{"id": value, "outputs": value}]},
        {"input": value, "status": value, "trace_id": value, "session_id": value, "spans": [span]},
        [{**span, "attributes": {"model": "m", "input_tokens": 1, "output": value}}],
    ):
        read_file(json.dumps(document).encode())  # which fails for an exception
