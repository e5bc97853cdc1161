"""Reading spans of one shape at once equals reading them attribute by attribute."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.gen_ai.fields import TABLES
from agentool_otel.dialects.gen_ai.plain import PlainReader
from agentool_otel.dialects.kit.reading import PLACEHOLDERS, Reader
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.model.spans import SpanEvent, SpanRecord
from tests.laws import many

DIALECT = GenAI()
NAMES = [
    *TABLES[Inference],
    *TABLES[ToolExecution],
    *(
        "app.name",
        "input",
        "output",
        "gen_ai.system",
        "gen_ai.usage.total_tokens",
        "gen_ai.prompt.0.content",
    ),
    *("agentool.tool.wrapped", "error.type", "mcp.method.name", "agentool.span.kind"),
]
texts = st.sampled_from(
    [
        *("", "a", "12", "1.5", "true", "null", '"text"', '"{\\"a\\": 1}"', '{"result": 1}', "{"),
        *('{"a": 1}', "[]", "[1]", '[{"role": "user"}]', '[{"role"}]', '{"a": 1e999}', "["),
        *PLACEHOLDERS,
    ]
)
values = texts | st.integers() | st.floats(allow_nan=False) | st.booleans() | st.lists(texts)
attributes = st.dictionaries(st.sampled_from(NAMES), values, max_size=12)
operations = st.sampled_from(["chat", "execute_tool", "text_completion", "embeddings", 1])
scopes = st.sampled_from(["", "openai", "agentool_otel.instrumentation.openai"])


def span_of(
    operation: Any,
    remainder: dict[str, Any],
    scope: str,
    status: str = "UNSET",
    events: list[SpanEvent] | None = None,
) -> SpanRecord:
    values = {"gen_ai.operation.name": operation, **remainder}
    ids = ("1" * 32, "2" * 16)
    return SpanRecord(*ids, attributes=values, scope=scope, status=status, events=events or [])


any_spans = st.builds(
    span_of,
    operations,
    attributes,
    scopes,
    st.sampled_from(["UNSET", "OK", "ERROR"]),
    st.lists(st.just(SpanEvent("gen_ai.user.message")), max_size=1),
)
PLAIN = [
    name
    for name in (*TABLES[Inference], *TABLES[ToolExecution])
    if PlainReader.of(("", name, "gen_ai.operation.name"))
]
plain_spans = st.builds(
    span_of,
    st.sampled_from(["chat", "execute_tool"]),
    st.dictionaries(st.sampled_from(PLAIN), texts | st.integers(), max_size=2),
    scopes,
)


def same(span: SpanRecord) -> bool:
    reader = DIALECT.reader_for((span.scope, *span.attributes))
    if reader is None:
        return False
    assert reader(span) is None  # it pays for what comes again
    result = reader(span)
    if result is None:
        return False
    assert result == DIALECT.read(Reader(span))
    return True


def test_both_readings_agree_and_the_fast_one_applies() -> None:
    taken: list[bool] = []

    @settings(max_examples=many(500))
    @given(any_spans | plain_spans)
    @example(span_of("chat", {"gen_ai.usage.input_tokens": True, "gen_ai.seed": "12"}, ""))
    @example(
        span_of("execute_tool", {"gen_ai.tool.name": "", "gen_ai.system_instructions": "a"}, "")
    )
    @example(span_of("execute_tool", {"gen_ai.tool.name": "", "gen_ai.input.messages": "a"}, ""))
    def agree(span: SpanRecord) -> None:
        taken.append(same(span))

    agree()
    assert sum(taken) >= len(taken) / 25  # else this would assert nothing


def test_a_chat_of_the_baseline_takes_the_fast_reading() -> None:
    texts = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.response.finish_reasons": ["stop"],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.input.messages": '[{"role":"user","parts":[{"type":"text","content":"hi"}]}]',
        "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"a"}]}]',
        "app.name": "mine",
    }
    assert same(SpanRecord("1" * 32, "2" * 16, attributes=texts))


def test_a_tool_execution_of_the_baseline_takes_the_fast_reading() -> None:
    texts = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "get_weather",
        "gen_ai.tool.call.arguments": '{"city":"Paris"}',
        "gen_ai.tool.call.result": '{"temperature":18}',
    }
    assert same(SpanRecord("1" * 32, "2" * 16, attributes=texts))
