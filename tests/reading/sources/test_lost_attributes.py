"""Attributes that cannot be read are named, wherever OTLP/JSON has them; the others are read."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from agentool_otel.reading.sources.files.span_files import SpanFiles

READABLE = {"key": "kept", "value": {"stringValue": "x"}}
UNREADABLE: dict[str, Any] = {
    "a text": "x",
    "a number": [READABLE, 5],
    "a null": [None, READABLE],
    "a text in the list": ["x", READABLE],
    "no key": [READABLE, {"value": {"stringValue": "x"}}],
    "a number as key": [{"key": 5, "value": {"intValue": "3"}}, READABLE],
    "a null as key": [{"key": None}, READABLE],
    "a list": [[], READABLE],
}
PLACES = ("span", "event", "link", "resource", "log record")


def document(place: str, attributes: Any) -> dict[str, Any]:
    of = {place: attributes}
    ids = {"traceId": "a" * 32, "spanId": "b" * 16}
    span = {
        **ids,
        "name": "s",
        "startTimeUnixNano": "1",
        "attributes": of.get("span", []),
        "events": [{"name": "e", "timeUnixNano": "1", "attributes": of.get("event", [])}],
        "links": [{**ids, "attributes": of.get("link", [])}],
    }
    log = {
        "timeUnixNano": "1",
        "eventName": "l",
        "body": {"stringValue": "x"},
        "attributes": of.get("log record", []),
    }
    resource = {"attributes": of.get("resource", [])}
    return {
        "resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {}, "spans": [span]}]}],
        "resourceLogs": [{"scopeLogs": [{"logRecords": [log]}]}],
    }


def messages(*documents: dict[str, Any]) -> list[str]:
    text = "".join(json.dumps(item) + "\n" for item in documents)
    source = SpanFiles([io.BytesIO(text.encode())])
    spans = list(source.spans())
    assert len(spans) == 2 * len(documents)
    return [problem.message for problem in source.problems]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", UNREADABLE)
def test_attributes_that_cannot_be_read_are_named(kind: str, place: str) -> None:
    (message,) = messages(document(place, UNREADABLE[kind]))
    assert "left out" in message
    whole = document("", None)
    assert len(messages(whole, document(place, UNREADABLE[kind]), whole)) == 1


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("kind", ["text", "null", "object"])
def test_readable_attributes_are_not_named(kind: str, place: str) -> None:
    readable = {"text": [READABLE], "null": None, "object": {"kept": "x"}}
    assert messages(document(place, readable[kind])) == []


@pytest.mark.parametrize("kind", [kind for kind in UNREADABLE if kind != "a text"])
def test_the_others_of_a_span_are_read(kind: str) -> None:
    text = json.dumps(document("span", UNREADABLE[kind]))
    (span, _) = SpanFiles([io.BytesIO(text.encode())]).spans()
    assert span.attributes == {"kept": "x"}
