"""The law `read(write(operation)) == operation` for OpenLLMetry."""

from __future__ import annotations

from hypothesis import given, settings

from agentool_otel.dialects import classify
from agentool_otel.dialects.traceloop.dialect import Traceloop
from agentool_otel.model import operations as ops
from agentool_otel.model.operations import ToolExecution
from agentool_otel.model.spans import SpanRecord
from tests.dialects.test_gen_ai_law import operations
from tests.laws import many


def collected(operation: ops.Operation) -> SpanRecord:
    name, kind, attributes = Traceloop().write(operation)
    status = "ERROR" if operation.error_type is not None else "UNSET"
    return SpanRecord(
        "1" * 32, "2" * 16, name=name, kind=kind, attributes=attributes, status=status,
        scope="agentool_otel",
    )  # fmt: skip


@settings(max_examples=many(400), deadline=None)
@given(operations)
def test_reading_what_was_written_gives_the_operation(operation: ops.Operation) -> None:
    assert classify(collected(operation)) == ("traceloop", operation)


def test_a_tool_is_an_entity_with_input_and_output() -> None:
    tool = ToolExecution(name="search", call_id="c1", arguments={"q": "x"}, result="found")
    written = Traceloop().write(tool)
    assert written.name == "search.tool"
    assert written.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search",
        "gen_ai.tool.call.id": "c1",
        "traceloop.span.kind": "tool",
        "traceloop.entity.name": "search",
        "traceloop.entity.input": '{"inputs":{"q":"x"}}',
        "traceloop.entity.output": '{"output":"found"}',
    }
