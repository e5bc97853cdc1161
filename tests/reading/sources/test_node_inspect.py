"""Spans as JavaScript prints them: `util.inspect`, by which the console exporter shows a span."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.reading.sources.files.node_inspect import inspected, looks_inspected
from agentool_otel.reading.sources.opening import open_source

PRINTED = """\
Server started
{
  resource: {
    attributes: Resource {
      'service.name': 'bot'
    }
  },
  instrumentationScope: { name: 'ai', version: undefined, schemaUrl: undefined },
  traceId: '5e6ebe6e2a1e2b6f1c1d4c8b7a9f0e11',
  parentSpanContext: {
    traceId: '5e6ebe6e2a1e2b6f1c1d4c8b7a9f0e11',
    spanId: 'aaaaaaaaaaaaaaaa',
    traceFlags: 1
  },
  name: 'ai.toolCall',
  id: 'bbbbbbbbbbbbbbbb',
  kind: 0,
  timestamp: 1760000000100000,
  duration: 3005.5,
  attributes: {
    'ai.toolCall.name': 'weather',
    'ai.toolCall.args': '{"city":' +
      '"San F"}'
  },
  status: { code: 2, message: "it's late" },
  events: [
    {
      name: 'exception',
      attributes: [Object],
      time: [ 1760000000, 200000000 ]
    }
  ],
  links: []
}
"""


def test_a_printed_span_is_read(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, PRINTED))
    (span,) = source.spans()
    assert (span.name, span.span_id, span.parent_id) == ("ai.toolCall", "b" * 16, "a" * 16)
    assert span.attributes["ai.toolCall.args"] == '{"city":"San F"}'
    assert (span.status, span.status_message) == ("ERROR", "it's late")
    assert (span.scope, span.resource) == ("ai", {"service.name": "bot"})
    assert span.end_ns == 1760000000103005500


def test_values_that_were_not_printed_are_a_problem_with_a_hint(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, PRINTED))
    list(source.spans())
    *_, problem = source.problems
    assert problem.where.endswith("lines 2 to 34")
    assert problem.message.startswith(
        "1 values were not printed, only marks such as [Object]; hint"
    )


def test_a_truncated_span_loses_only_itself(tmp_path: Path) -> None:
    source = open_source(write(tmp_path, PRINTED + PRINTED.partition("\n")[2][:400]))
    assert len(list(source.spans())) == 1
    assert "cut short or damaged" in source.problems[-1].message


@pytest.mark.parametrize(
    ("printed", "value"),
    [
        ("{ a: 1, 'b.c': -2.5, d: 3n }", {"a": 1, "b.c": -2.5, "d": 3}),
        (r"""{ a: 'it\'s', b: "it's", c: `both`, d: '\x41\u0042\n' }""",
         {"a": "it's", "b": "it's", "c": "both", "d": "AB\n"}),
        ("{ a: undefined, b: null, c: true, d: [Array], e: [Circular *1] }",
         {"b": None, "c": True}),
        ("{ a: [ 1, [ 'x' ], ... 98 more items ], b: 'x'... 5 more characters }",
         {"a": [1, ["x"]], "b": "x"}),
        ("{ a: Map(1) { 'k' => 1 }, b: Object [null prototype] { k: 2 } }",
         {"a": {"k": 1}, "b": {"k": 2}}),
        ("{'a': None, 'b': [True, 'x']}", {"a": None, "b": [True, "x"]}),
        ("{ a: 2026-01-01T00:00:00.000Z, }", {"a": "2026-01-01T00:00:00.000Z"}),
    ],
)  # fmt: skip
def test_printed_values_come_back_as_they_were(printed: str, value: object) -> None:
    assert looks_inspected(printed, 0)
    assert inspected(printed, 0).value == value


@given(st.text(alphabet="{}[]'\"`:,\\\n a1=>.n+", max_size=60))
def test_anything_else_is_a_value_error(text: str) -> None:
    with suppress(ValueError):
        assert isinstance(inspected(text, 0).value, dict)


def test_json_is_not_a_printed_object() -> None:
    assert not looks_inspected('{"a": 1}', 0)


def write(folder: Path, text: str) -> Path:
    file = folder / "console.log"
    file.write_text(text, encoding="utf-8")
    return file
