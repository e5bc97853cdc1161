"""The law of names: only a container's own fields may be spelt in several ways.

Names of attributes, and names inside values, belong to whoever wrote the span. They come back as
they were, also where they are names of fields of a container.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model import operations as ops
from tests.laws import many
from tests.programs import WRITERS, rebuilt, spans_of, words
from tests.reading.sources.encoders import ENCODERS, Encoder

names = st.sampled_from([
    "trace_id", "spanId", "parent_span_id", "start_time_unix_nano", "scope_spans",
    "resource_attributes", "attributes", "key", "value", "body", "event_name", "user_name",
    "statusCode", "gen_ai.tool.name",
])  # fmt: skip
plain = words | st.integers(0, 99) | st.booleans()
values = st.dictionaries(names, plain | st.lists(plain, max_size=2), min_size=1, max_size=3)
objects = st.dictionaries(names, plain | values, min_size=1, max_size=3)


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@pytest.mark.parametrize("structured", [False, True], ids=["as JSON text", "as a structure"])
@settings(max_examples=many(25, fewer=5))
@given(arguments=objects, result=objects, writer=st.sampled_from([*WRITERS]))
def test_names_inside_values_come_back(
    encoder: Encoder,
    structured: bool,
    arguments: dict[str, Any],
    result: dict[str, Any],
    writer: str,
) -> None:
    call = ops.ToolExecution(name="t", call_id="c", arguments=arguments, result=result)
    spans = spans_of([ops.AgentInvocation(agent_name="a"), call], WRITERS[writer])
    if structured:
        tool = spans[1].attributes
        tool.update({name: parsed(value) for name, value in tool.items()})
    (document,) = rebuilt(encoder.encode(spans))
    steps = {step["type"]: step for step in document["steps"]}
    assert steps["tool_call"]["tool_call"]["arguments"] == arguments
    assert steps["tool_result"]["tool_result"]["output"] == result


def parsed(value: Any) -> Any:
    """Return the object in JSON text, any other value as it is."""
    return json.loads(value) if isinstance(value, str) and value.startswith("{") else value
