"""Spans as a table, a row per span: `spans/1`.

Cells of any shape are JSON; see `json_cells`. The last columns repeat attributes for queries: they
are written and not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from agentool_otel.ground import lazy_re as re
from agentool_otel.model.spans import Attributes, Damage, SpanEvent, SpanLink, SpanRecord
from agentool_otel.semconv import gen_ai
from agentool_otel.tables import TABLE
from agentool_otel.tables.columns import column
from agentool_otel.tables.json_cells import cell, value_of
from agentool_otel.tables.readable_cells import CellReport, readable_cells

__all__ = ["NAME", "SCHEMA", "batch_of_spans", "session_of", "spans_of"]

NAME = "spans/1"
_TEXTS = {
    "trace_id": "trace_id", "span_id": "span_id", "parent_span_id": "parent_id", "name": "name",
    "kind": "kind", "status_code": "status", "status_message": "status_message",
    "scope_name": "scope",
}  # fmt: skip
"""Members of a span by their columns."""
_TIMES = {"start_time_unix_nano": "start_ns", "end_time_unix_nano": "end_ns"}
_EXACT = frozenset({*_TEXTS.values(), *_TIMES.values()})
_FLAGS = ("made_ids", "hashed_ids")
_COPIED = {
    "operation_name": gen_ai.OPERATION_NAME, "agent_name": gen_ai.AGENT_NAME,
    "tool_name": gen_ai.TOOL_NAME, "model": gen_ai.REQUEST_MODEL,
}  # fmt: skip
_COUNTED = {
    "input_tokens": gen_ai.USAGE_INPUT_TOKENS,
    "output_tokens": gen_ai.USAGE_OUTPUT_TOKENS,
}
_JSON = ("attributes", "resource", "events", "links", "damaged", "exact")
READ = (*_TEXTS, *_TIMES, *_FLAGS, *_JSON)
"""The columns that a span is read from."""

_MEANINGS = {
    "trace_id": "lower-case hex, 32 characters",
    "span_id": "lower-case hex, 16 characters",
    "parent_span_id": "lower-case hex, 16 characters; null for a root",
    "name": "name of the span",
    "kind": "INTERNAL, CLIENT, SERVER, PRODUCER or CONSUMER",
    "status_code": "UNSET, OK or ERROR",
    "status_message": "description of the status",
    "scope_name": "name of the instrumentation scope",
    "start_time_unix_nano": "nanoseconds since the epoch; null if not known",
    "end_time_unix_nano": "nanoseconds since the epoch; null for a span that did not end",
    "made_ids": "whether an id is made of the content, because there was none",
    "hashed_ids": "whether an id is a hash of one of another size",
    "attributes": "JSON object",
    "resource": "JSON object",
    "events": 'JSON list of `{"name", "time_ns", "attributes"}`',
    "links": 'JSON list of `{"trace_id", "span_id", "attributes"}`',
    "damaged": 'JSON list of `{"where", "cut"}`: values whose bytes were not all UTF-8',
    "exact": "JSON object of members that their column cannot hold: text that is not Unicode, and "
    "times beyond 64 bits",
    "service_name": "`service.name` of the resource",
    "session_id": "the first attribute that names a session, conversation or thread",
    **{name: f"`{attribute}`" for name, attribute in {**_COPIED, **_COUNTED}.items()},
}
_KINDS: dict[str, pa.DataType] = {
    **dict.fromkeys(_FLAGS, pa.bool_()),
    **dict.fromkeys((*_TIMES, *_COUNTED), pa.int64()),
}
SCHEMA = pa.schema(
    [column(name, _KINDS.get(name, pa.string()), text) for name, text in _MEANINGS.items()],
    {TABLE: NAME.encode()},
)

_LIMIT = 1 << 63
_LONG = 1 << 16
"""Characters of a resource from which on only the last one is kept for equal texts."""
_T = TypeVar("_T")
_SESSION = re.compile(r"(?i:(?:^|[._])(?:session|conversation|thread)[._]?id)$")


def session_of(attributes: Attributes) -> str | None:
    """Return the session that the attributes of a span name, whatever the vocabulary."""
    for name, value in attributes.items():
        if _names_session(name) and isinstance(value, str) and value:
            return value
    return None


@lru_cache(4096)
def _names_session(name: str) -> bool:
    return _SESSION.search(name) is not None


def batch_of_spans(spans: Sequence[SpanRecord]) -> pa.RecordBatch:
    """Return spans as a batch of rows."""
    resources: dict[int, str | None] = {}
    columns: dict[str, list[Any]] = {name: [] for name in SCHEMA.names}
    adders = {name: cells.append for name, cells in columns.items()}
    for span in spans:
        exact: dict[str, Any] = {}
        for name, member in _TEXTS.items():
            adders[name](_text(getattr(span, member), member, exact))
        for name, member in _TIMES.items():
            time = getattr(span, member)
            if time is not None and not -_LIMIT <= time < _LIMIT:
                exact[member], time = time, None
            adders[name](time)
        attributes = span.attributes
        resource = resources.get(id(span.resource), "")
        if resource == "":
            resource = resources[id(span.resource)] = cell(span.resource) if span.resource else None
        adders["made_ids"](span.made_ids)
        adders["hashed_ids"](span.hashed_ids)
        adders["attributes"](cell(attributes) if attributes else None)
        adders["resource"](resource)
        adders["events"](_built_in(span.events))
        adders["links"](_built_in(span.links))
        adders["damaged"](_built_in(span.damaged))
        adders["exact"](cell(exact) if exact else None)
        adders["service_name"](_word(span.resource.get("service.name")))
        adders["session_id"](_word(session_of(attributes) or session_of(span.resource)))
        for name, attribute in _COPIED.items():
            adders[name](_word(attributes.get(attribute)))
        for name, attribute in _COUNTED.items():
            adders[name](_count(attributes.get(attribute)))
    arrays = [pa.array(columns[field.name], field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def _text(value: str | None, member: str, exact: dict[str, Any]) -> str | None:
    """Return a text that a column can hold, and keep the one that it cannot."""
    if value is None or value.isascii():
        return None if value is None else str(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        exact[member] = value
        return value.encode("utf-8", "replace").decode()
    return value


def _word(value: Any) -> str | None:
    return _text(value, "", {}) if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _LIMIT:
        return None
    return value


def _built_in(items: Sequence[SpanEvent | SpanLink | Damage]) -> str | None:
    return cell([msgspec.structs.asdict(item) for item in items]) if items else None


def spans_of(
    batch: pa.RecordBatch,
    first_row: int = 0,
    report: Callable[[str, str], None] | None = None,
    report_cell: Callable[[str, str], None] | None = None,
) -> Iterator[SpanRecord]:
    """Yield the spans of a batch of rows. Columns may be missing.

    Args:
        batch: rows of `SCHEMA`, with any further columns.
        first_row: number of its first row, for messages.
        report: takes the place and the reason of a row that cannot be read; by default an error is
            raised.
        report_cell: takes the same of a cell whose row is read without it; by default `report`.

    Raises:
        ValueError: a row cannot be read, and there is no `report`.
    """
    noted = report_cell or report
    names = set(batch.schema.names)
    columns = {
        name: readable_cells(batch.column(name), _cell_report(name, first_row, noted), "replace")
        for name in READ
        if name in names
    }
    rows = zip(*columns.values(), strict=True)
    for number, values in enumerate(rows):
        row = dict(zip(columns, values, strict=True))

        def lost(column: str, why: str, number: int = number) -> None:
            _cell_report(column, first_row, noted)(number, f"is left out: {why}")

        try:
            yield _span(row, lost)
        except (ValueError, TypeError) as error:
            where = f"row {first_row + number}"
            if report is None:
                raise ValueError(f"{where}: {error}") from error
            report(where, f"left out: {error}")


def _cell_report(
    column: str, first_row: int, report: Callable[[str, str], None] | None
) -> CellReport:
    def report_cell(row: int, why: str) -> None:
        if report is None:
            raise ValueError(f"row {first_row + row}: column {column} {why}")
        report(f"row {first_row + row}", f"column {column} {why}")

    return report_cell


def _span(row: Mapping[str, Any], lost: Callable[[str, str], None]) -> SpanRecord:
    """Return the span of a row.

    Args:
        row: cells by their columns.
        lost: takes the column and the reason of a cell that the span is read without.

    Raises:
        ValueError: it has no id.
    """
    get = row.get
    trace_id, span_id = get("trace_id"), get("span_id")
    if not trace_id or not span_id:
        raise ValueError("it has no trace_id" if not trace_id else "it has no span_id")

    def read(column: str, read_cell: Callable[[str], _T], absent: _T) -> _T:
        if not (text := get(column)):
            return absent
        try:
            return read_cell(text)
        except (ValueError, TypeError, KeyError, msgspec.ValidationError, RecursionError) as error:
            lost(column, str(error))
            return absent

    span = SpanRecord(
        trace_id,
        span_id,
        get("parent_span_id"),
        get("name") or "",
        get("kind") or "INTERNAL",
        get("start_time_unix_nano"),
        get("end_time_unix_nano"),
        read("attributes", _object, {}),
        read("events", _events, []),
        read("links", _links, []),
        get("status_code") or "UNSET",
        get("status_message"),
        get("scope_name") or "",
        read("resource", _resource, {}),
        read("damaged", _damages, ()),
        bool(get("made_ids")),
        bool(get("hashed_ids")),
    )
    exact: dict[str, Any] = read("exact", _exact, {})
    for member, value in exact.items():
        setattr(span, member, value)
    return span


def _object(text: str) -> Attributes:
    value = value_of(text)
    if not isinstance(value, dict):
        raise ValueError("it is no JSON object")
    return value


def _exact(text: str) -> dict[str, Any]:
    members = {name: value for name, value in _object(text).items() if name in _EXACT}
    for name, value in members.items():
        if not isinstance(value, int if name in _TIMES.values() else str):
            raise ValueError(f"{name} is {type(value).__name__}")
    return members


def _list(text: str) -> list[dict[str, Any]]:
    value = value_of(text)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("it is no JSON list of objects")
    return value


def _resource(text: str) -> Attributes:
    """Return the attributes of a resource. Those of equal text are one object, never changed."""
    return _short_resource(text) if len(text) < _LONG else _long_resource(text)


_short_resource = lru_cache(256)(_object)
_long_resource = lru_cache(1)(_object)


def _events(text: str) -> list[SpanEvent]:
    return [msgspec.convert(_without_nulls(item), SpanEvent) for item in _list(text)]


def _links(text: str) -> list[SpanLink]:
    return [msgspec.convert(_without_nulls(item), SpanLink) for item in _list(text)]


def _without_nulls(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if value is not None}


def _damages(text: str) -> tuple[Damage, ...]:
    return tuple(msgspec.convert(item, Damage) for item in _list(text))
