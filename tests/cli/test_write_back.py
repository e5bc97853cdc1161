"""`eval --write-back`: verdicts into the traces they judge."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from google.protobuf.unknown_fields import UnknownFieldSet  # type: ignore[import-untyped]

from agentool_otel import ReasoningTrace
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_source
from tests.cli.conftest import Invoke
from tests.tracing.export.receiver import HttpReceiver

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
ASSERTIONS = [
    {"type": "no_tool_error"},
    {"type": "tool_call_count", "tool_name": "add", "min_calls": 1},
    {"type": "output_property", "property": "is polite"},
]


@pytest.fixture
def folder(recorded: bytes, tmp_path: Path) -> Path:
    place = tmp_path / "spans"
    place.mkdir()
    (place / "traces.jsonl").write_bytes(recorded)
    Path("a.json").write_text(json.dumps(ASSERTIONS))
    return place


def results_of(result: Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def rebuilt(place: Path) -> Rebuilt:
    [result] = rebuild(open_source(place).spans())
    return result


def told(place: Path) -> list[dict[str, Any]]:
    return [result.to_dict() for result in rebuilt(place).results]


def judging(place: Path) -> list[SpanRecord]:
    return [span for span in open_source(place).spans() if span.name.startswith("evaluate ")]


def without(result: dict[str, Any], *members: str) -> dict[str, Any]:
    return {key: value for key, value in result.items() if key not in members}


def test_results_are_written_beside_the_input_and_leave_it_unchanged(
    invoke: Invoke, folder: Path, recorded: bytes
) -> None:
    before = rebuilt(folder).trace
    output = invoke("eval", "a.json", folder, "--write-back")
    assert output.exit_code == 1, "an assertion failed"
    assert (folder / "traces.jsonl").read_bytes() == recorded
    [new] = [file for file in folder.iterdir() if file.name != "traces.jsonl"]
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert f"written back to {new}: 1 result" in output.stderr
    assert rebuilt(folder).trace == before
    [result] = results_of(output)
    result["assertion_results"] = [
        without(assertion_result, "reason") for assertion_result in result["assertion_results"]
    ]
    assert told(folder) == [result]


def test_with_content_results_are_written_back_in_full(invoke: Invoke, folder: Path) -> None:
    result = invoke("eval", "a.json", folder, "--write-back", "--write-back-content")
    assert told(folder) == results_of(result)


def test_verdicts_belong_to_the_agents_span_and_are_not_errors(
    invoke: Invoke, folder: Path
) -> None:
    invoke("eval", "a.json", folder, "--write-back")
    [root] = [span for span in open_source(folder).spans() if span.name == "invoke_agent adder"]
    spans = judging(folder)
    assert [span.name.partition(" ")[2] for span in spans] == [
        "composite_score",
        "no_tool_error",
        "tool_call_count",
        "output_property",
    ]
    labels = [span.attributes["gen_ai.evaluation.score.label"] for span in spans]
    assert labels == ["fail", "fail", "pass", "not_evaluated"]
    assert {(span.parent_id, span.start_ns, span.end_ns, span.status) for span in spans} == {
        (root.span_id, root.end_ns, root.end_ns, "UNSET")
    }
    assert {span.resource["service.name"] for span in spans} == {"agentool-otel"}


def test_evaluating_again_judges_the_run_and_not_the_verdicts(invoke: Invoke, folder: Path) -> None:
    changing = ("evaluated_at",)
    first = invoke("eval", "a.json", folder, "--write-back")
    again = invoke("eval", "a.json", folder, "--write-back")
    assert [without(result, *changing) for result in results_of(again)] == [
        without(result, *changing) for result in results_of(first)
    ]
    assert "; 1 trace" in again.stderr
    assert len(told(folder)) in (1, 2), "as many as there are times of evaluation"


def test_results_for_a_file_are_written_beside_it(invoke: Invoke, folder: Path) -> None:
    invoke("eval", "a.json", folder / "traces.jsonl", "--write-back")
    assert len(told(folder)) == 1


def test_results_go_to_the_default_recording_if_none_is_named(
    invoke: Invoke, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENTOOL_DIR", str(folder))
    invoke("eval", "a.json", "--write-back")
    assert len(told(folder)) == 1


def test_another_folder_can_be_named(invoke: Invoke, folder: Path) -> None:
    invoke("eval", "a.json", folder, "--write-back-to", "verdicts")
    assert len(list(folder.iterdir())) == 1
    assert [span.name for span in judging(Path("verdicts"))][:1] == ["evaluate composite_score"]


@pytest.mark.parametrize("lacks", ["", "/v1/logs"])
def test_an_endpoint_gets_spans_and_events_or_spans_alone(
    invoke: Invoke, folder: Path, lacks: str
) -> None:
    """Jaeger and Tempo take no log records."""
    with HttpReceiver(lacks=lacks) as receiver:
        result = invoke("eval", "a.json", folder, "--write-back-to", receiver.endpoint)
        assert f"written back to {receiver.endpoint}: 1 result" in result.stderr
        assert receiver.names() == [span.name for span in judging_of(receiver)]
        events = {(event_name(log), log.span_id.hex()) for log in receiver.logs()}
    [root] = [span for span in open_source(folder).spans() if span.name == "invoke_agent adder"]
    assert events == (set() if lacks else {("gen_ai.evaluation.result", root.span_id)})
    assert len(list(folder.iterdir())) == 1


def event_name(record: Any) -> str:
    """Return field 12 of a log record, which the protocol of opentelemetry-proto 1.30 lacks."""
    if hasattr(record, "event_name"):
        return str(record.event_name)
    [name] = (field.data for field in UnknownFieldSet(record) if field.field_number == 12)
    return bytes(name).decode()


def judging_of(receiver: HttpReceiver) -> list[SpanRecord]:
    place = Path("sent")
    place.mkdir(exist_ok=True)
    for n, body in enumerate(receiver.bodies["/v1/traces"]):
        (place / f"{n}.pb").write_bytes(body)
    return judging(place)


def test_results_of_a_document_join_the_trace_it_is_exported_to(
    invoke: Invoke, folder: Path
) -> None:
    spec = SPEC / "reasoning-trace.json"
    with HttpReceiver() as receiver:
        invoke("eval", "a.json", spec, "--write-back-to", receiver.endpoint)
        invoke("export", spec, "--endpoint", receiver.endpoint)
        judging_of(receiver)
    match = rebuilt(Path("sent"))
    assert match.trace == ReasoningTrace.from_json(spec.read_text())
    assert [result.trace_id for result in match.results] == ["tr_7f3a9b"]


def test_the_result_of_the_spec_survives_as_spans(invoke: Invoke, folder: Path) -> None:
    """Written with its content by the case of the spec, shown, and given as EvalResult lines."""
    trace = json.loads((SPEC / "reasoning-trace.json").read_text())
    Path("trace.json").write_text(
        json.dumps({**trace, "metadata": {"case_id": "case_web_search_001"}})
    )
    invoke("export", "trace.json", "-o", "spans/spec.jsonl")
    (folder / "traces.jsonl").unlink()
    case = SPEC / "eval-case.json"
    result = invoke("eval", case, folder, "--write-back", "--write-back-content")
    invoke("rebuild", folder, "-o", "traces.jsonl", "--results", "results.jsonl")
    [line] = Path("results.jsonl").read_text().splitlines()
    assert json.loads(line) == results_of(result)[0]
    assert len(Path("traces.jsonl").read_text().splitlines()) == 1


def test_results_come_from_several_processes_too(invoke: Invoke, folder: Path) -> None:
    result = invoke("eval", "a.json", folder, "--write-back", "--write-back-content")
    invoke("rebuild", folder, "--results", "results.jsonl", "--jobs", 2)
    assert json.loads(Path("results.jsonl").read_text()) == results_of(result)[0]


def test_show_lists_verdicts_below_the_steps(invoke: Invoke, folder: Path) -> None:
    before = invoke("show", folder).stdout
    invoke("eval", "a.json", folder, "--write-back", "--write-back-content")
    shown = invoke("show", folder).stdout
    assert shown.startswith(before)
    below = [" ".join(line.split()) for line in shown[len(before) :].splitlines() if line]
    assert below[0] == "judged"
    assert below[1].startswith("✗ failed every trace 0.5 20")
    assert below[2].startswith("✗ failed no_tool_error 0 add failed at step_")
    assert below[3].startswith("✓ passed tool_call_count 1 ")
    assert below[4].startswith("- not evaluated output_property ")
    tree = invoke("show", folder, "--spans").stdout
    assert "evaluate no_tool_error  0.00 ms  fail  0" in tree


def test_an_endpoint_that_refuses_results_loses_none(invoke: Invoke, folder: Path) -> None:
    Path("ok.json").write_text(json.dumps({"type": "status"}))
    with HttpReceiver(status=503) as receiver:
        result = invoke("eval", "ok.json", folder, "--write-back-to", receiver.endpoint)
    assert result.exit_code == 1
    assert "error: some results could not be written back" in result.stderr
    assert "HTTP 503" in result.stderr
    assert results_of(result)[0]["passed"] is True


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("-", "--write-back"), "--write-back-to"),
        (("spans", "--write-back-to", "a.json"), "is a file"),
        (("spans", "--write-back-to", "ftp://x"), "is not a URL"),
    ],
)
def test_an_unwritable_place_is_refused_at_once(
    invoke: Invoke, folder: Path, options: tuple[str, ...], words: str
) -> None:
    refused = invoke("eval", "a.json", *options, input=b"")
    assert refused.exit_code == 2
    assert words in refused.stderr


def test_an_unwritable_folder_costs_no_result(invoke: Invoke, folder: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = invoke("eval", "a.json", folder, "--write-back-to", tmp_path / "file" / "inner")
    assert result.exit_code == 1
    assert "error: some results could not be written back" in result.stderr
    assert len(results_of(result)) == 1
