"""OTLP/JSON in other spellings, to the one that the decoder of spans reads.

Only names of OTLP fields change. Names of attributes, and objects inside values, stay as they are:
they belong to whoever wrote the span.

Spec: opentelemetry-proto 1.9, docs/specification.md#json-protobuf-encoding.
"""

from __future__ import annotations

from agentool_otel.ground.json_codec import Json
from agentool_otel.reading.sources.files.damage import with_marks

__all__ = ["normal"]

_SNAKE_NAMES = """
    resource_spans scope_spans instrumentation_library_spans instrumentation_library
    resource_logs scope_logs log_records resource_metrics scope_metrics schema_url
    trace_id span_id parent_span_id trace_state start_time_unix_nano end_time_unix_nano
    time_unix_nano observed_time_unix_nano severity_number severity_text event_name
    dropped_attributes_count dropped_events_count dropped_links_count
    string_value bool_value int_value double_value bytes_value array_value kvlist_value
"""


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


_CAMEL = {name: _camel(name) for name in _SNAKE_NAMES.split()}
_ARMS = frozenset(name for item in _CAMEL.items() if item[0].endswith("_value") for name in item)
"""The members of an AnyValue, in both spellings."""
_ATTRIBUTES, _VALUE, _BODY = "attributes", "value", "body"


def normal(value: Json) -> Json:
    """Return OTLP/JSON with names in camelCase, no nulls and marks in place of lone surrogates,
    which UTF-8 cannot hold.

    Raises:
        RecursionError: the value is nested more deeply than the interpreter's stack allows.
    """
    if value.__class__ is dict:
        return {
            _CAMEL.get(name, name): _member(name, inner)
            for name, inner in value.items()
            if inner is not None
        }
    if value.__class__ is list:
        return [normal(item) for item in value]
    return with_marks(value) if isinstance(value, str) else value


def _member(name: str, inner: Json) -> Json:
    if inner.__class__ is dict:
        if name == _ATTRIBUTES:
            return inner
        if name in (_VALUE, _BODY) and not inner.keys() <= _ARMS:
            return _any_value(inner)
    return normal(inner)


def _any_value(value: Json) -> Json:
    """Return a plain value as an AnyValue."""
    if isinstance(value, dict):
        pairs = [{"key": str(key), "value": _any_value(item)} for key, item in value.items()]
        return {"kvlistValue": {"values": pairs}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_any_value(item) for item in value]}}
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {} if value is None else {"stringValue": with_marks(str(value))}
