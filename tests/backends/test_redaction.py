"""Attributes that `collector-config/redact.yaml` masks, by its patterns and in a Collector."""

from __future__ import annotations

import json
import re
import urllib.request
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentool_otel.semconv import agentool, core
from agentool_otel.semconv.foreign import holds_content, holds_object
from agentool_otel.semconv.table import ATTRIBUTES
from tests import content_names
from tests.backends.servers import CONFIGS, collector, wait_for
from tests.content_names import declared
from tests.contract.content import recordings, spans_in
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.export.receiver import spans_in as spans_in_request

CANARY = "what nobody may read"
MASKED = "****"
BESIDE = {core.EXCEPTION_MESSAGE, core.EXCEPTION_STACKTRACE, agentool.METADATA}
STRUCTURE = {
    **dict.fromkeys(("gen_ai.agent.name", "gen_ai.tool.name", "gen_ai.request.model"), "a name"),
    **dict.fromkeys(("gen_ai.prompt.name", "gen_ai.prompt.version", "llm.model_name"), "a name"),
    **dict.fromkeys(("gen_ai.tool.call.id", "gen_ai.memory.record.id", "session.id"), "an id"),
    **dict.fromkeys(("llm.cost.input", "llm.token_count.prompt", "llm.usage.total_tokens"), "7"),
    agentool.TAGS: "a tag",
    core.ERROR_TYPE: "TimeoutError",
    "http.route": "/v1",
}
"""Attributes that pass."""

IN_EVENTS = [
    {"key": "text_chunks", "value": {"stringValue": CANARY}},
    {"key": "role", "value": {"stringValue": "user"}},
]
"""Attributes of an event that is content as such: under a name of nobody's, and one that stays."""


@cache
def _processor() -> dict[str, list[re.Pattern[str]]]:
    text = (CONFIGS / "redact.yaml").read_text(encoding="utf-8")
    read = yaml.safe_load(text)["processors"]["redaction"]
    lists = ("blocked_key_patterns", "ignored_key_patterns")
    return {name: [re.compile(item) for item in read[name]] for name in lists}


def is_masked(key: str) -> bool:
    """Return whether the processor masks a key that it does not ignore."""
    patterns = _processor()
    if any(
        ignored_key_pattern.search(key) for ignored_key_pattern in patterns["ignored_key_patterns"]
    ):
        return False
    return any(
        blocked_key_pattern.search(key) for blocked_key_pattern in patterns["blocked_key_patterns"]
    )


def names() -> list[str]:
    """Return a name for each declaration."""
    content = declared()
    declarations = (*content.attributes, *content.objects)
    replaces = [
        declaration.replace("*", "any") + ("0" if declaration.endswith(".") else "")
        for declaration in declarations
    ]
    return [*replaces, *(f"{item}.below" for item in replaces if f"{item}." in declarations)]


def test_the_patterns_are_those_of_the_declarations() -> None:
    text = (CONFIGS / "redact.yaml").read_text(encoding="utf-8")
    assert text == content_names.in_collector(text), "write it: python -m tests.content_names"


def test_every_declared_name_is_masked() -> None:
    assert [name for name in (*names(), *BESIDE) if not is_masked(name)] == []


def test_in_recordings_and_conventions_exactly_content_is_masked() -> None:
    spans = [span for path in recordings() for span in spans_in(path)]
    recorded = {key for span in spans for key in span.attributes}
    recorded |= {key for span in spans for event in span.events for key in event.attributes}
    for key in {*recorded, *ATTRIBUTES, *STRUCTURE}:
        beside = key in BESIDE or key.endswith("error.message")
        assert is_masked(key) == (holds_content(key) or holds_object(key) or beside), key


# ------------------------------------------------------------------------------ a real Collector


def _request(attributes: dict[str, str]) -> bytes:
    """Return an OTLP/JSON request with attributes on a span and on its event."""
    pairs = [
        {"key": key, "value": {"stringValue": attribute}} for key, attribute in attributes.items()
    ]
    listed = {"arrayValue": {"values": [{"stringValue": CANARY}]}}
    nested = {"kvlistValue": {"values": [{"key": "a", "value": {"stringValue": CANARY}}]}}
    structured = [{"key": "input", "value": listed}, {"key": "output", "value": nested}]
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "work",
        "startTimeUnixNano": "1",
        "endTimeUnixNano": "2",
        "status": {"code": 2, "message": f"bad: {CANARY}"},
        "attributes": [pair for pair in pairs if pair["key"] not in ("input", "output")]
        + structured,
        "events": [
            {"timeUnixNano": "1", "name": "event", "attributes": pairs},
            *({"timeUnixNano": "2", "name": name, "attributes": IN_EVENTS} for name in events()),
        ],
    }
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}).encode()


def events() -> list[str]:
    """Return an event name for each name or prefix that dialects declare as content."""
    declarations = declared().events
    return [
        declaration.replace("*", "any") + ("0" if declaration.endswith(".") else "")
        for declaration in declarations
    ]


def _logs() -> bytes:
    """Return an OTLP/JSON request with a log record for each event, by either way to name it."""
    body = {"stringValue": json.dumps({"role": "user", "content": CANARY})}
    records: list[dict[str, Any]] = [
        {"timeUnixNano": "1", "body": body, "attributes": IN_EVENTS, "eventName": name}
        for name in events()
    ]
    for record in [*records]:
        named = {"key": "event.name", "value": {"stringValue": record["eventName"]}}
        records.append({"body": body, "attributes": [named, *IN_EVENTS]})
    return json.dumps({"resourceLogs": [{"scopeLogs": [{"logRecords": records}]}]}).encode()


def _together(folder: Path, *configs: str) -> str:
    """Return one file of several, as the Collector joins them: lists are replaced."""
    joined: dict[str, Any] = {}
    for config in configs:
        _add(yaml.safe_load((CONFIGS / config).read_text(encoding="utf-8")), joined)
    file = folder / "together.yaml"
    file.write_text(yaml.safe_dump(joined), encoding="utf-8")
    return str(file)


def _add(config: dict[str, Any], into: dict[str, Any]) -> None:
    for name, value in config.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _add(value, into[name])
        else:
            into[name] = value


def _passed(folder: Path, *configs: str) -> Any:
    """Return the span that a Collector sends on of one with every name there is."""
    content = dict.fromkeys([*names(), *BESIDE], CANARY)
    with (
        HttpReceiver() as next_one,
        collector(_together(folder, *configs), folder, NEXT_ENDPOINT=next_one.endpoint) as running,
    ):
        headers = {"content-type": "application/json"}
        body = _request({**content, **STRUCTURE})
        request = urllib.request.Request(f"{running.http}/v1/traces", body, headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
        assert wait_for(next_one.names)
        [body] = next_one.bodies["/v1/traces"]
    [span] = spans_in_request(body)
    return span


@pytest.mark.backends
def test_a_collector_masks_every_declared_name_and_passes_structure(tmp_path: Path) -> None:
    span = _passed(tmp_path, "redact.yaml")
    span.status.message = ""
    assert CANARY.encode() not in span.SerializeToString()
    for attributes in (span.attributes, span.events[0].attributes):
        values = {attribute.key: attribute.value.string_value for attribute in attributes}
        assert {key: values[key] for key in STRUCTURE} == STRUCTURE
        assert {values[key] for key in names()} == {MASKED}


@pytest.mark.backends
def test_of_events_that_are_content_what_places_them_stays(tmp_path: Path) -> None:
    span = _passed(tmp_path, "redact.yaml")
    for event in span.events[1:]:
        assert [
            (attribute.key, attribute.value.string_value) for attribute in event.attributes
        ] == [("role", "user")]


@pytest.mark.backends
def test_log_records_that_are_content_have_no_body(tmp_path: Path) -> None:
    with (
        HttpReceiver() as next_one,
        collector(
            str(CONFIGS / "redact.yaml"), tmp_path, NEXT_ENDPOINT=next_one.endpoint
        ) as running,
    ):
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"{running.http}/v1/logs", _logs(), headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
        assert wait_for(lambda: next_one.bodies.get("/v1/logs"))
        [body] = next_one.bodies["/v1/logs"]
    assert CANARY.encode() not in body
    assert body.count(b"user") >= 2 * len(events())


@pytest.mark.backends
def test_with_the_second_file_the_status_is_empty_too(tmp_path: Path) -> None:
    span = _passed(tmp_path, "redact.yaml", "redact-status.yaml")
    assert span.status.code == 2
    assert CANARY.encode() not in span.SerializeToString()
