"""`export` of documents that are no traces, and `rebuild --documents` that reads them again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.spec_documents import document_class
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool, gen_ai
from tests.cli.conftest import Invoke
from tests.laws import many
from tests.seed_systems.exported import through_commands
from tests.strategies import objects, values, with_unknown
from tests.tracing.export.receiver import HttpReceiver

Object = dict[str, Any]
TRACE: Object = {"trace_id": "t", "agent_id": "a", "input": "q", "output": "ok", "steps": []}
RESULT: Object = {
    "case_id": "c",
    "trace_id": "t",
    "passed": False,
    "assertion_results": [
        {"assertion_type": "status", "passed": False, "score": 0.0, "reason": "it failed"}
    ],
}
FIXTURES = Path(__file__).parent.parent / "fixtures" / "spec"


def read(path: str) -> Iterator[Object]:
    return map(json.loads, Path(path).read_text().splitlines())


def there_and_back(invoke: Invoke, *documents: Object) -> list[Object]:
    """Export documents, and return the documents that `rebuild` reads from the spans."""
    Path("documents.json").write_text(json.dumps(documents))
    result = invoke("export", "documents.json", "-o", "spans.jsonl")
    assert result.exit_code == 0, result.stderr
    files = ("-o", "traces", "--results", "results", "--documents", "others")
    assert invoke("rebuild", "spans.jsonl", *files).exit_code == 0
    return [obj for file in ("traces", "results", "others") for obj in read(file)]


@pytest.mark.parametrize("order", [1, -1])
def test_a_result_is_an_evaluation_of_the_trace_that_it_names(invoke: Invoke, order: int) -> None:
    assert there_and_back(invoke, *[TRACE, RESULT][::order]) == [TRACE, RESULT]
    spans = list(open_source("spans.jsonl").spans())
    run = next(span for span in spans if span.name == "invoke_agent a")
    judged = [span for span in spans if span.parent_id == run.span_id]
    assert [item.name for item in judged] == ["evaluate composite_score", "evaluate status"]
    [event] = [
        event
        for span in spans
        for event in span.events
        if event.attributes.get(gen_ai.EVALUATION_NAME) == "status"
    ]
    assert event.name == "gen_ai.evaluation.result"
    assert event.attributes[gen_ai.EVALUATION_SCORE_LABEL] == "fail"
    assert event.attributes[gen_ai.EVALUATION_EXPLANATION] == "it failed"


def test_the_summary_counts_documents(invoke: Invoke) -> None:
    Path("documents.json").write_text(json.dumps([TRACE, RESULT]))
    result = invoke("export", "documents.json", "-o", "spans.jsonl")
    assert "1 trace, 1 other document, 3 spans in spans.jsonl" in result.stderr


def test_a_result_joins_a_recorded_run(invoke: Invoke, recording: Path) -> None:
    [run] = map(json.loads, invoke("rebuild", recording).stdout.splitlines())
    result = {**RESULT, "trace_id": run["trace_id"]}
    Path("result.json").write_text(json.dumps(result))
    assert invoke("export", recording, "result.json", "-o", "both.jsonl").exit_code == 0
    again = invoke("rebuild", "both.jsonl", "--results", "results.jsonl")
    assert json.loads(again.stdout) == run
    assert list(read("results.jsonl")) == [result]


def test_results_of_another_file_join_the_spans_of_a_trace(invoke: Invoke) -> None:
    """Each file is exported by itself."""
    for name, document in (("trace", TRACE), ("result", RESULT)):
        Path(f"{name}.json").write_text(json.dumps(document))
        assert invoke("export", f"{name}.json", "-o", f"{name}.jsonl").exit_code == 0
    again = invoke("rebuild", "trace.jsonl", "result.jsonl", "--results", "results.jsonl")
    assert json.loads(again.stdout) == TRACE
    assert list(read("results.jsonl")) == [RESULT]


def test_the_same_document_has_the_same_ids_again(invoke: Invoke) -> None:
    ids = []
    for _ in range(2):
        there_and_back(invoke, TRACE, RESULT, json.loads((FIXTURES / "tool-spec.json").read_text()))
        ids.append({(span.trace_id, span.span_id) for span in open_source("spans.jsonl").spans()})
    assert ids[0] == ids[1]
    assert len(ids[0]) == 4


def test_tools_are_defined_in_the_words_of_the_conventions(invoke: Invoke) -> None:
    spec = json.loads((FIXTURES / "tool-spec.json").read_text())
    there_and_back(invoke, spec)
    [span] = open_source("spans.jsonl").spans()
    [definition] = json.loads(span.attributes[gen_ai.TOOL_DEFINITIONS])
    assert (definition["type"], definition["name"]) == ("function", spec["name"])
    assert definition["parameters"] == spec["parameters"]
    assert span.attributes[agentool.DOCUMENT_TYPE] == "ToolSpec"


def test_what_is_no_document_is_named(invoke: Invoke) -> None:
    Path("documents.json").write_text(json.dumps([TRACE, {"no": "document"}, RESULT]))
    result = invoke("export", "documents.json", "-o", "spans.jsonl")
    assert result.exit_code == 1
    assert "left out: $[1], an object with 'no', is no known document" in result.stderr
    assert "1 trace, 1 other document" in result.stderr


def test_a_document_that_cannot_be_read_is_named(invoke: Invoke) -> None:
    broken = {**RESULT, "assertion_results": [{"assertion_type": 5}]}
    Path("documents.jsonl").write_text("\n".join(map(json.dumps, (TRACE, broken))))
    result = invoke("export", "documents.jsonl", "-o", "spans.jsonl")
    assert result.exit_code == 1
    assert "EvalResult: expected" in result.stderr


@pytest.mark.parametrize("name", ["eval-case", "eval-result", "tool-spec", "tool-registry"])
def test_other_commands_do_not_take_a_document_for_spans(invoke: Invoke, name: str) -> None:
    result = invoke("rebuild", FIXTURES / f"{name}.json")
    assert result.exit_code == 3
    assert "expected spans" in result.stderr or "holds cases, no spans" in result.stderr


def test_spans_inside_a_document_like_object_are_spans(invoke: Invoke, recording: Path) -> None:
    [line, *_] = recording.read_text().splitlines()
    wrapped = {"case_id": "c", "assertions": [], "spans": json.loads(line)}
    Path("wrapped.json").write_text(json.dumps(wrapped))
    result = invoke("export", "wrapped.json", "-o", "spans.jsonl")
    assert result.exit_code == 0, result.stderr
    assert "other document" not in result.stderr


texts = st.text(st.characters(exclude_characters="\ufdd0", codec="utf-8"), max_size=6)
"""U+FDD0 is the mark of damage of our readers."""
specs = with_unknown(
    st.fixed_dictionaries({"name": texts, "description": texts, "parameters": objects})
)
assertion_results = with_unknown(
    st.fixed_dictionaries(
        {"assertion_type": texts, "passed": st.none() | st.booleans()},
        optional={"score": st.floats(0, 1), "reason": texts},
    )
)
DOCUMENTS = st.one_of(
    specs,
    with_unknown(
        st.fixed_dictionaries(
            {"registry_id": texts, "tools": st.lists(with_unknown(st.builds(dict, spec=specs)))}
        )
    ),
    with_unknown(
        st.fixed_dictionaries(
            {
                "case_id": texts,
                "assertions": st.lists(
                    with_unknown(st.fixed_dictionaries({"type": texts})), max_size=2
                ),
            },
            optional={"input": values, "context": objects, "tags": st.lists(texts, max_size=2)},
        )
    ),
    with_unknown(
        st.fixed_dictionaries(
            {
                "case_id": texts,
                "passed": st.none() | st.booleans(),
                "assertion_results": st.lists(assertion_results, max_size=3),
            },
            optional={"trace_id": texts, "eval_id": texts, "notes": texts},
        )
    ),
)


@settings(max_examples=many(200), suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(DOCUMENTS, min_size=1, max_size=3, unique_by=canonical))
@example([{"name": "", "description": "", "parameters": {"resource_metrics": None}}])
def test_any_documents_come_back_from_their_spans(documents: list[Object]) -> None:
    dicts = [
        cls.from_dict(document)
        for document in documents
        if (cls := document_class(document)) is not None
    ]
    canonicals = {canonical(item.to_dict()) for item in dicts}
    assert {canonical(command) for command in through_commands(*dicts)} == canonicals


@pytest.mark.parametrize("lacks", ["", "/v1/logs"])
def test_documents_are_sent_to_an_endpoint(invoke: Invoke, lacks: str) -> None:
    """Jaeger has no place for events."""
    key = f"sk-proj-{'aB3dE5gH' * 6}"
    Path("documents.json").write_text(json.dumps([TRACE, {**RESULT, "notes": key}]))
    with HttpReceiver(lacks=lacks) as receiver:
        result = invoke("export", "documents.json", "--endpoint", receiver.endpoint)
    assert result.exit_code == 0, result.stderr
    assert "1 other document" in result.stderr
    sent = b"".join(body for bodies in receiver.bodies.values() for body in bodies)
    assert b"evaluate status" in sent
    assert (b"gen_ai.evaluation.result" in sent) == (lacks == "")
    assert key.encode() not in sent


def test_documents_that_an_endpoint_refuses_are_an_error(invoke: Invoke) -> None:
    Path("documents.json").write_text(json.dumps([RESULT]))
    result = invoke("export", "documents.json", "--endpoint", "http://127.0.0.1:9")
    assert result.exit_code == 1
    assert "did not take the other documents" in result.stderr
