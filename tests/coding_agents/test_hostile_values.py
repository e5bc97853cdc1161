"""Attributes of a coding agent's telemetry with values of a type that the agent never writes."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.frameworks import ROOT

RECORDINGS = ROOT / "tests/fixtures/coding_agents"
FILES = [
    path.relative_to(RECORDINGS)
    for name in ("spans.jsonl", "logs.jsonl")
    for path in sorted(RECORDINGS.glob(f"*/sub_agent/{name}"))
]
VALUES: list[Any] = [["a"], {"a": "b"}, [{"a": 1}, None], 7]


@pytest.mark.parametrize("file", FILES, ids=str)
def test_a_value_of_another_type_is_no_fault_of_ours(file: Any) -> None:
    """Every name takes the next value; `rebuild` raises in tests where it would report a fault."""
    records = list(open_source(RECORDINGS / file).spans())
    names = {name for record in records for part in _parts(record) for name in part}
    for number, name in enumerate(sorted(names)):
        changed = [_with(record, name, VALUES[number % 2]) for record in records]
        list(rebuild(changed))


@pytest.mark.parametrize("value", VALUES, ids=str)
@pytest.mark.parametrize("file", FILES, ids=str)
def test_no_value_need_be_of_its_type(file: Any, value: Any) -> None:
    records = list(open_source(RECORDINGS / file).spans())
    names = {name for record in records for part in _parts(record) for name in part}
    for keep in ("event.name", "gen_ai.operation.name", "span.type", "otel.scope.name"):
        names.discard(keep)  # or nothing is known of what the record is
    for name in names:
        records = [_with(record, name, value) for record in records]
    list(rebuild(records))


def _parts(record: SpanRecord) -> list[Attributes]:
    return [record.attributes, *(event.attributes for event in record.events)]


def _with(record: SpanRecord, name: str, value: Any) -> SpanRecord:
    """Return a record whose attribute has another value, wherever the record has it."""
    events = [
        replace(event, attributes=_changed(event.attributes, name, value))
        for event in record.events
    ]
    return replace(record, attributes=_changed(record.attributes, name, value), events=events)


def _changed(attributes: Attributes, name: str, value: Any) -> Attributes:
    return {**attributes, name: value} if name in attributes else attributes
