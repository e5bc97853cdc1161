"""The error that ended a run is in its trace, from any span; errors it survived are not."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.operations import (
    Inference,
    ToolExecution,
    Unclassified,
)
from agentool_otel.model.spans import SpanEvent, SpanRecord
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.semconv.marks import MASK
from tests.records import Collected, agent

WHY = "because of X"


def a_run(error: str = "ValueError", text: str | None = WHY) -> tuple[Collected, SpanRecord]:
    """A run that ended with an error, and nothing in it yet."""
    spans = Collected()
    root = spans.add(agent(error_type=error), seconds=9, status_message=text)
    return spans, root


def a_tool(
    spans: Collected, parent: SpanRecord, error: str | None = "ValueError", text: str | None = WHY
) -> SpanRecord:
    return spans.add(ToolExecution(name="t", error_type=error), parent=parent, status_message=text)


def error_of(spans: Collected) -> Any:
    return spans.rebuilt()[0].get("metadata", {}).get("error")


def notes_of(spans: Collected) -> dict[str, Note]:
    [result] = rebuild(spans.spans)
    return {note.field: note for note in result.fidelity.notes if "metadata.error" in note.field}


# ----------------------------------------------------------------------------- whose error it is


def test_the_error_that_ended_a_run_is_in_its_metadata() -> None:
    observation, root = a_run()
    assert error_of(observation) == {"type": "ValueError", "message": WHY, "span_id": root.span_id}


def test_a_successful_run_has_no_error() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    a_tool(spans, root)
    assert "metadata" not in spans.rebuilt()[0]


def test_an_unfinished_run_has_no_error() -> None:
    spans = Collected()
    root = spans.add(agent(), end_ns=None)
    a_tool(spans, root)
    assert spans.rebuilt()[0]["status"] == "in_progress"
    assert error_of(spans) is None


def test_a_waiting_run_has_no_error() -> None:
    observation, root = a_run()
    root.attributes["agentool.status"] = "in_progress"
    assert error_of(observation) is None


def test_a_bare_model_call_has_the_error_of_its_own_span() -> None:
    spans = Collected()
    call = spans.add(Inference(error_type="openai.InternalServerError"), status_message="500")
    assert error_of(spans) == {
        "type": "openai.InternalServerError",
        "message": "500",
        "span_id": call.span_id,
    }


def test_a_model_call_that_was_retried_did_not_end_the_run() -> None:
    spans = Collected()
    program = spans.add(Unclassified(), seconds=9)
    spans.add(Inference(error_type="Busy"), parent=program, status_message="429")
    spans.add(Inference(), parent=program)
    assert [trace["status"] for trace in spans.rebuilt()] == ["success"]
    assert error_of(spans) is None


def test_the_finish_reason_is_the_error_of_a_refused_run() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    call = spans.add(Inference(finish_reasons=["content_filter"]), parent=root)
    assert error_of(spans) == {"type": "content_filter", "span_id": call.span_id}


def test_an_error_in_the_users_metadata_is_kept() -> None:
    observation, root = a_run()
    root.attributes["agentool.metadata"] = '{"error":"E-17"}'
    assert error_of(observation) == "E-17"
    assert notes_of(observation)["metadata.error"].attribute == "agentool.metadata"


# ---------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("error", ["_OTHER", "timeout"])
def test_a_status_alone_is_no_error(error: str) -> None:
    observation, _ = a_run(error, None)
    assert error_of(observation) is None


def test_what_is_not_known_is_absent() -> None:
    assert error_of(a_run("KeyboardInterrupt", "")[0]).keys() == {"type", "span_id"}
    assert error_of(a_run("_OTHER", WHY)[0]).keys() == {"message", "span_id"}


def test_a_message_only_on_the_exception_event_is_used() -> None:
    observation, root = a_run(text=None)
    for text in ("was caught", WHY):
        root.events.append(SpanEvent("exception", None, {"exception.message": text}))
    assert error_of(observation)["message"] == WHY
    assert notes_of(observation)["metadata.error.message"].attribute == "exception.message"


def test_of_several_exception_events_the_one_of_the_same_class_counts() -> None:
    observation, root = a_run(text=None)
    for kind, text in (("builtins.ValueError", WHY), ("KeyError", "was caught")):
        thrown = {"exception.type": kind, "exception.message": text}
        root.events.append(SpanEvent("exception", None, thrown))
    assert error_of(observation)["message"] == WHY


def test_a_message_only_in_an_attribute_is_used() -> None:
    observation, root = a_run(text=None)
    root.attributes["error.message"] = WHY
    assert error_of(observation)["message"] == WHY


def test_the_class_name_that_the_sdk_prepends_to_the_message_is_removed() -> None:
    observation, root = a_run("some.ValueError", f"ValueError: {WHY}")
    root.events = [SpanEvent("exception", None, {"exception.message": WHY})]
    assert error_of(observation)["message"] == WHY


def test_a_message_that_begins_with_its_class_is_kept_as_it_is() -> None:
    observation, _ = a_run(text=f"ValueError: {WHY}")
    assert error_of(observation)["message"] == f"ValueError: {WHY}"


# -------------------------------------------------------------------------------- where it arose


def test_an_error_arose_in_the_innermost_span_that_has_it() -> None:
    observation, root = a_run("some.module.ValueError")
    tool = a_tool(observation, root, "ValueError")
    call = observation.add(Inference(error_type="ValueError"), parent=tool, status_message=WHY)
    error = error_of(observation)
    assert error == {"type": "some.module.ValueError", "message": WHY, "span_id": call.span_id}


def test_of_several_spans_with_an_error_it_arose_in_the_last() -> None:
    observation, root = a_run()
    a_tool(observation, root)
    last = a_tool(observation, root)
    assert error_of(observation)["span_id"] == last.span_id


@pytest.mark.parametrize(("error", "said"), [("ValueError", "of Y"), ("TypeError", WHY)])
def test_another_error_inside_is_not_where_it_arose(error: str, said: str) -> None:
    observation, root = a_run()
    a_tool(observation, root, error, said)
    assert error_of(observation)["span_id"] == root.span_id


def test_an_error_may_pass_through_plumbing_spans_without_errors() -> None:
    observation, root = a_run()
    tool = a_tool(observation, observation.add(Unclassified(), parent=root, seconds=5))
    assert error_of(observation)["span_id"] == tool.span_id


def test_an_error_does_not_pass_through_a_successful_operation() -> None:
    observation, root = a_run()
    a_tool(observation, a_tool(observation, root, None, None))
    assert error_of(observation)["span_id"] == root.span_id


def test_an_error_may_arise_in_a_nested_run() -> None:
    observation, root = a_run()
    inner = observation.add(
        agent("writer", error_type="ValueError"), parent=root, status_message=WHY
    )
    tool = a_tool(observation, inner)
    assert [trace["metadata"]["error"]["span_id"] for trace in observation.rebuilt()] == [
        tool.span_id,
        tool.span_id,
    ]


def test_the_origin_is_found_through_a_thousand_nested_runs() -> None:
    observation, above = a_run()
    for _ in range(1000):
        above = observation.add(agent(error_type="ValueError"), parent=above, status_message=WHY)
    origins = {trace["metadata"]["error"]["span_id"] for trace in observation.rebuilt()}
    assert origins == {above.span_id}


# ----------------------------------------------------------- where a run says only that it failed


def test_the_error_is_that_of_the_failure_that_ended_the_run() -> None:
    observation, root = a_run("_OTHER", None)
    a_tool(observation, root, text="was handled")
    last = a_tool(observation, root)
    assert error_of(observation) == {"type": "ValueError", "message": WHY, "span_id": last.span_id}


def test_a_failure_after_which_the_run_went_on_did_not_end_it() -> None:
    observation, root = a_run("_OTHER", None)
    a_tool(observation, root)
    observation.add(Inference(), parent=root)
    assert error_of(observation) is None


def test_a_failure_of_another_class_did_not_end_it() -> None:
    observation, root = a_run("KeyboardInterrupt", None)
    a_tool(observation, root)
    assert error_of(observation) == {"type": "KeyboardInterrupt", "span_id": root.span_id}


# -------------------------------------------------------------------------------- how true it is


def test_the_report_names_span_and_attribute() -> None:
    observation, root = a_run()
    tool = a_tool(observation, root)
    results = [
        (note.field, note.outcome, note.span_id, note.attribute)
        for note in notes_of(observation).values()
    ]
    assert results == [
        ("metadata.error.type", "kept", root.span_id, "error.type"),
        ("metadata.error.message", "kept", root.span_id, "status.message"),
        ("metadata.error.span_id", "inferred", tool.span_id, None),
    ]


def test_a_message_from_an_inner_span_is_inferred() -> None:
    observation, root = a_run("_OTHER", None)
    tool = a_tool(observation, root)
    note = notes_of(observation)["metadata.error.message"]
    assert (note.outcome, note.span_id) == ("inferred", tool.span_id)
    assert note.rule is not None
    assert note.rule.startswith("the run has no more than '_OTHER'")


def test_an_error_type_that_a_dialect_rewrites_is_normalised() -> None:
    observation, _ = a_run("<class 'some.ValueError'>")
    note = notes_of(observation)["metadata.error.type"]
    assert error_of(observation)["type"] == "some.ValueError"
    assert (note.outcome, note.attribute) == ("normalised", "error.type")


def test_a_message_from_the_span_around_a_call_names_that_span() -> None:
    spans = Collected()
    outer = spans.add(Inference(error_type="NotFound"), seconds=5, status_message="404")
    inner = spans.add(Inference(error_type="not_found"), parent=outer)
    assert error_of(spans) == {"type": "not_found", "message": "404", "span_id": inner.span_id}
    assert notes_of(spans)["metadata.error.message"].span_id == outer.span_id


def test_a_masked_message_is_redacted() -> None:
    observation, _ = a_run(text=f"no such key: {MASK}")
    [result] = rebuild(observation.spans)
    redacted = [note.field for note in result.fidelity.notes if note.outcome == "redacted"]
    assert redacted == ["metadata.error.message"]


def test_the_error_of_a_tool_without_words_is_its_class() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(ToolExecution(name="t", error_type="KeyboardInterrupt", tool_error=""), parent=root)
    assert spans.rebuilt()[0]["steps"][1]["tool_result"]["error"] == "KeyboardInterrupt"
