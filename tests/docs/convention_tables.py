"""The tables of docs/reference/attributes.md that come from the table of the conventions."""

from __future__ import annotations

from collections.abc import Iterable

from agentool_otel.semconv import gen_ai
from agentool_otel.semconv.table import ATTRIBUTES, GENERATIONS, METRICS, SPAN_TYPES, SpanType

__all__ = ["TYPES", "attributes", "generations", "metrics", "spans"]

TYPES = {
    "s": "string", "s[]": "strings", "i": "integer", "d": "double", "b": "boolean", "e": "word",
    "any": "any value",
}  # fmt: skip
"""The types of attributes, as people call them."""
_LEFT_OUT = ("ours", "P", "U")
"""The marks of our own names, which have a table, and of names that we do not write."""


def spans() -> str:
    """Return a row for each type of span: its operations, name and kind."""
    rows = (
        (
            f"`{span_type.id}`",
            _code(span_type.operations) or "the MCP method",
            _code((" ".join([_first_word(span_type), *_name_part(span_type)]),)),
            ", ".join(kind.lower() for kind in span_type.kinds),
        )
        for span_type in SPAN_TYPES
    )
    return _table(("span", "operations", "span name", "kind"), rows)


def attributes() -> str:
    """Return a row for each attribute that spans, events and metrics may have."""
    rows = (
        (f"`{name}`", TYPES[item.type], "yes" if item.content else "", ", ".join(_spans_with(name)))
        for name, item in sorted(ATTRIBUTES.items())
        if item.mark not in _LEFT_OUT
    )
    return _table(("attribute", "type", "content", "on spans"), rows)


def metrics() -> str:
    """Return a row for each metric of the baseline."""
    rows = (
        (f"`{name}`", METRICS[name].instrument, METRICS[name].unit, METRICS[name].description)
        for name in GENERATIONS[gen_ai.BASELINE].metrics
    )
    return _table(("metric", "instrument", "unit", "what is measured"), rows)


def generations() -> str:
    """Return a row for each generation that is written."""
    rows = (
        (
            f"`{name}`",
            f"`{generation.schema_url}`",
            str(len(generation.names)),
            str(len(generation.absent)),
        )
        for name, generation in GENERATIONS.items()
    )
    head = ("generation", "schema URL", "attributes with another name", "attributes it lacks")
    return _table(head, rows)


def _spans_with(name: str) -> list[str]:
    return [
        f"`{span_type.id.removeprefix('gen_ai.')}`"
        for span_type in SPAN_TYPES
        if name
        in span_type.required | span_type.conditional | span_type.recommended | span_type.opt_in
    ]


def _first_word(span: SpanType) -> str:
    return "{operation}" if span.operations else "{method}"


def _name_part(span: SpanType) -> list[str]:
    return [f"{{{' or '.join(span.name_keys)}}}"] if span.name_keys else []


def _code(words: Iterable[str]) -> str:
    return ", ".join(f"`{word}`" for word in words)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)
