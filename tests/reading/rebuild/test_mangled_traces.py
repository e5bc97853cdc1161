"""Whatever became of the values of real spans, they give traces and a report, and no exception."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source

RECORDINGS = sorted((Path(__file__).parents[2] / "fixtures" / "spans").glob("*.jsonl"))
ODD: list[Any] = [
    *(0, 1, True, None, -5, 2**70, 1.5, float("nan"), float("inf"), "", b"\xff", "\ud800"),
    *([1, "a"], [None], {"a": 1}, {"messages": [1]}, [{"role": 1}]),
    *("null", "1", '"x"', "[]", "{}", "[1]", "[null]", "[[1]]", "[[{}]]", "<not specified>"),
    *('{"messages":1}', '{"messages":[1,null,[]]}', '{"output":[1]}', '{"input":[1],"model":1}'),
    '[{"role":1,"content":[1,null,{"type":5}]}]',
    '[{"role":"assistant","parts":{"a":1}}]',
    '[{"role":"user","parts":[1,{"type":"tool_call","id":5,"name":null,"arguments":[1]}]}]',
    '[{"role":"tool","parts":[{"type":"tool_call_response","response":1}]}]',
    *('[{"type":"thinking"}]', '[{"toolResult":{"content":1}}]', '[{"toolUse":{"name":1}}]'),
    *('[{"toolName":1}]', '[{"function":1},{"function":{}}]', '[{"function_declarations":1}]'),
    *('[{"event.name":1}]', '[{"event.name":"gen_ai.choice","message":1}]'),
    '[{"event.name":"gen_ai.unknown","data":{}}]',
    *('{"modelId":"x","body":"[1]","toolConfig":[1]}', '{"ResponseMetadata":1,"body":1}'),
    *('{"text":1,"usage":[1]}', '{"response":{"blocks":[1]}}', '{"error":1}', '{"threadId":1}'),
    *("{'a': 1", "content='", "content='a' name=", "tool_call_id='", "[AIMessage(content=''"),
    *("user: a\nassistant: b", "user: [{'a'", '{"calling":" arguments={"}'),
]
"""Values that are nothing, and such as come close to something."""


@cache
def spans_of(recording: Path) -> list[SpanRecord]:
    return list(open_source(recording).spans())


def mangled(span: SpanRecord, rng: random.Random) -> SpanRecord:
    attributes = dict(span.attributes)
    for key in rng.sample(sorted(attributes), min(len(attributes), rng.choice((1, 2, 4)))):
        attributes[key] = rng.choice(ODD)
    events = [
        msgspec.structs.replace(
            event,
            attributes={
                key: rng.choice(ODD) if rng.random() < 0.3 else value
                for key, value in event.attributes.items()
            },
        )
        for event in span.events
    ]
    return msgspec.structs.replace(span, attributes=attributes, events=events)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda item: item.stem)
@settings(max_examples=10)
@given(seed=st.integers(0, 2**32))
def test_mangled_spans_are_rebuilt(recording: Path, seed: int) -> None:
    rng = random.Random(seed)
    for rebuilt in rebuild(mangled(span, rng) for span in spans_of(recording)):
        rebuilt.to_bytes()
        assert rebuilt.trace.trace_id
        assert rebuilt.fidelity.notes is not None
