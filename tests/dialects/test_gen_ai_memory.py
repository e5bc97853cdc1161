"""Inputs and results of memory as records of the conventions, and read back unchanged."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from agentool_otel.dialects import classify
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import MemoryOperation
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.semconv.table import GENERATIONS
from agentool_otel.testing.conformance import check


def span(attributes: Attributes, operation: str = "search_memory") -> SpanRecord:
    texts = {"gen_ai.operation.name": operation, **attributes}
    return SpanRecord("1" * 32, "2" * 16, name=operation, attributes=texts, scope="agentool_otel")


def read(attributes: Attributes, operation: str = "search_memory") -> MemoryOperation:
    _, result = classify(span(attributes, operation))
    assert isinstance(result, MemoryOperation)
    return result


def attributes(operation: MemoryOperation, generation: str = "latest") -> Attributes:
    return GenAI(generation).write(operation).attributes


def own(text: Attributes) -> set[str]:
    return {name for name in text if name.startswith("agentool.memory.")}


@pytest.mark.parametrize(
    ("results", "records"),
    [
        (["a", {"b": 1}], [{"content": "a"}, {"content": {"b": 1}}]),
        ({"b": 1}, [{"content": {"b": 1}}]),
        ("text", [{"content": "text"}]),
        ([], []),
        (None, []),
        ([None], [{"content": None}]),
    ],
)
def test_search_results_are_records_and_come_back(results: Any, records: Any) -> None:
    operation = MemoryOperation(results=results)
    written = attributes(operation)
    assert loads(written["gen_ai.memory.records"]) == records
    assert own(written) == {"agentool.memory.wrapped"}
    assert read(written) == operation
    assert check(span(written)) == []


@pytest.mark.parametrize("content", ["text", ["a", "b"], {"a": 1}, [], None])
def test_written_content_is_one_record_and_comes_back(content: Any) -> None:
    operation = MemoryOperation(operation="upsert_memory", record_id="k", content=content)
    written = attributes(operation)
    assert loads(written["gen_ai.memory.records"]) == [{"content": content}]
    assert written["gen_ai.memory.record.id"] == "k"
    assert own(written) == {"agentool.memory.wrapped"}
    assert read(written, "upsert_memory") == operation


def test_records_of_a_store_are_written_unchanged() -> None:
    operation = MemoryOperation(records=[{"id": "1", "content": "a", "score": 0.5}])
    written = attributes(operation)
    assert own(written) == set()
    assert read(written) == operation


def test_results_that_fit_no_record_stay_under_our_own_attribute() -> None:
    operation = MemoryOperation(records=[{"content": "a"}], results={"found": 1})
    written = attributes(operation)
    assert own(written) == {"agentool.memory.results"}
    assert read(written) == operation


@pytest.mark.parametrize("generation", ["1.41", "1.36"])
def test_memory_records_have_our_name_in_older_generations(generation: str) -> None:
    operation = MemoryOperation(operation="upsert_memory", record_id="k", content="x")
    written = attributes(operation, generation)
    assert written["agentool.gen_ai.memory.records"] == '[{"content":"x"}]'
    assert not any(name.startswith("gen_ai.memory.") for name in written)
    assert read(written, "upsert_memory") == operation


@pytest.mark.parametrize("generation", GENERATIONS)
def test_recordings_with_the_earlier_names_are_read(generation: str) -> None:
    earlier = {"agentool.memory.results": '["a"]', "agentool.gen_ai.memory.query.text": "q"}
    assert read(earlier) == MemoryOperation(query="q", results=["a"])
    earlier = {"agentool.memory.key": "k", "agentool.memory.content": '{"a":1}'}
    written = read(earlier, "upsert_memory")
    assert (written.record_id, written.content) == ("k", {"a": 1})
    assert read(attributes(written, generation), "upsert_memory") == written


def test_a_truncation_mark_among_the_records_stays() -> None:
    mark = {"$truncated": "bytes", "$length": 9}
    texts = {"gen_ai.memory.records": [{"content": "a"}, mark], "agentool.memory.wrapped": "each"}
    assert read(texts) == MemoryOperation(results=["a", mark])


def test_text_that_a_hook_put_in_place_of_records_is_the_result() -> None:
    texts = {"gen_ai.memory.records": "[removed]", "agentool.memory.wrapped": "each"}
    assert read(texts) == MemoryOperation(results="[removed]")
    assert read({"agentool.memory.wrapped": "whole"}).results is UNSET
