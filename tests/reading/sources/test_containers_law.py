"""The law of containers: the same spans, however they were written, are the same SpanRecords."""

from __future__ import annotations

import io
import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model.spans import SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.files.span_files import SpanFiles
from tests.reading.sources.encoders import ENCODERS, Encoder

# U+FDD0, which no text has by Unicode, stands for damaged bytes while a file is read.
text = st.text(st.characters(codec="utf-8", exclude_characters="\0\ufdd0"), max_size=8)
scalars = (
    text
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=2),
    st.dictionaries(st.sampled_from(["city", "n"]), scalars, max_size=2),
)
attributes = st.dictionaries(
    st.sampled_from(["gen_ai.operation.name", "gen_ai.usage.input_tokens", "llm.x", "a.b.c"]),
    values,
    min_size=1,
    max_size=3,
)
inner = st.dictionaries(st.sampled_from(["gen_ai.system", "x.y"]), scalars, max_size=2)
times = st.integers(1_500_000_000_000_000_000, 1_900_000_000_000_000_000)
trace_ids = st.integers(10**33, 2**128 - 1).map("{:032x}".format)
span_ids = st.integers(10**17, 2**64 - 1).map("{:016x}".format)
names = st.text("abc µ\"'\\\n", min_size=1, max_size=8).filter(str.strip)


@st.composite
def spans(draw: st.DrawFn) -> SpanRecord:
    start = draw(times)
    status = draw(st.sampled_from(["UNSET", "OK", "ERROR"]))
    return SpanRecord(
        trace_id=draw(trace_ids),
        span_id=draw(span_ids),
        parent_id=draw(st.none() | span_ids),
        name=draw(names),
        kind=draw(st.sampled_from(["INTERNAL", "SERVER", "CLIENT", "PRODUCER", "CONSUMER"])),
        start_ns=start,
        end_ns=start + draw(st.integers(1, 10**12)),
        attributes=draw(attributes),
        events=draw(st.lists(st.builds(SpanEvent, names, times, inner), max_size=2)),
        links=draw(st.lists(st.builds(SpanLink, trace_ids, span_ids, inner), max_size=1)),
        status=status,
        status_message=draw(st.none() | names) if status == "ERROR" else None,
        scope=draw(names),
        resource={"service.name": draw(names), **draw(inner)},
    )


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=25)
@given(written=st.lists(spans(), min_size=1, max_size=3, unique_by=lambda span: span.span_id))
def test_what_was_written_is_read(encoder: Encoder, written: list[SpanRecord]) -> None:
    source = SpanFiles([io.BytesIO(encoder.encode(written))])
    read = list(source.spans())
    assert [shown(span) for span in read] == [shown(encoder.kept(span)) for span in written]
    noise = [problem for problem in source.problems if "not JSON: 'a line'" not in problem.message]
    assert noise == []


def shown(span: SpanRecord) -> str:
    """Text that distinguishes 1 from 1.0 and from true."""
    return json.dumps(msgspec.to_builtins(span), sort_keys=True, indent=1)
