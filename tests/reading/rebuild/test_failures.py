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


def a_run(error: str = "ValueError", said: str | None = WHY) -> tuple[Collected, SpanRecord]:
    """A run that ended with an error, and nothing in it yet."""
    seen = Collected()
    root = seen.add(agent(error_type=error), seconds=9, status_message=said)
    return seen, root


def a_tool(
    seen: Collected, parent: SpanRecord, error: str | None = "ValueError", said: str | None = WHY
) -> SpanRecord:
    return seen.add(ToolExecution(name="t", error_type=error), parent=parent, status_message=said)


def error_of(seen: Collected) -> Any:
    return seen.rebuilt()[0].get("metadata", {}).get("error")


def notes_of(seen: Collected) -> dict[str, Note]:
    [found] = rebuild(seen.spans)
    return {note.field: note for note in found.fidelity.notes if "metadata.error" in note.field}


# ----------------------------------------------------------------------------- whose error it is


def test_the_error_that_ended_a_run_is_in_its_metadata() -> None:
    seen, root = a_run()
    assert error_of(seen) == {"type": "ValueError", "message": WHY, "span_id": root.span_id}


def test_a_successful_run_has_no_error() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    a_tool(seen, root)
    assert "metadata" not in seen.rebuilt()[0]


def test_an_unfinished_run_has_no_error() -> None:
    seen = Collected()
    root = seen.add(agent(), end_ns=None)
    a_tool(seen, root)
    assert seen.rebuilt()[0]["status"] == "in_progress"
    assert error_of(seen) is None


def test_a_waiting_run_has_no_error() -> None:
    seen, root = a_run()
    root.attributes["agentool.status"] = "in_progress"
    assert error_of(seen) is None


def test_a_bare_model_call_has_the_error_of_its_own_span() -> None:
    seen = Collected()
    call = seen.add(Inference(error_type="openai.InternalServerError"), status_message="500")
    assert error_of(seen) == {
        "type": "openai.InternalServerError",
        "message": "500",
        "span_id": call.span_id,
    }


def test_a_model_call_that_was_retried_did_not_end_the_run() -> None:
    seen = Collected()
    program = seen.add(Unclassified(), seconds=9)
    seen.add(Inference(error_type="Busy"), parent=program, status_message="429")
    seen.add(Inference(), parent=program)
    assert [trace["status"] for trace in seen.rebuilt()] == ["success"]
    assert error_of(seen) is None


def test_the_finish_reason_is_the_error_of_a_refused_run() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    call = seen.add(Inference(finish_reasons=["content_filter"]), parent=root)
    assert error_of(seen) == {"type": "content_filter", "span_id": call.span_id}


def test_an_error_in_the_users_own_metadata_stands() -> None:
    seen, root = a_run()
    root.attributes["agentool.metadata"] = '{"error":"E-17"}'
    assert error_of(seen) == "E-17"
    assert notes_of(seen)["metadata.error"].attribute == "agentool.metadata"


# ---------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize("error", ["_OTHER", "timeout"])
def test_a_status_alone_is_no_error(error: str) -> None:
    seen, _ = a_run(error, None)
    assert error_of(seen) is None


def test_what_is_not_known_is_absent() -> None:
    assert error_of(a_run("KeyboardInterrupt", "")[0]).keys() == {"type", "span_id"}
    assert error_of(a_run("_OTHER", WHY)[0]).keys() == {"message", "span_id"}


def test_a_message_only_on_the_exception_event_is_used() -> None:
    seen, root = a_run(said=None)
    for said in ("was caught", WHY):
        root.events.append(SpanEvent("exception", None, {"exception.message": said}))
    assert error_of(seen)["message"] == WHY
    assert notes_of(seen)["metadata.error.message"].attribute == "exception.message"


def test_of_several_exception_events_the_one_of_the_same_class_counts() -> None:
    seen, root = a_run(said=None)
    for kind, said in (("builtins.ValueError", WHY), ("KeyError", "was caught")):
        thrown = {"exception.type": kind, "exception.message": said}
        root.events.append(SpanEvent("exception", None, thrown))
    assert error_of(seen)["message"] == WHY


def test_a_message_only_in_an_attribute_is_used() -> None:
    seen, root = a_run(said=None)
    root.attributes["error.message"] = WHY
    assert error_of(seen)["message"] == WHY


def test_the_class_name_that_the_sdk_prepends_to_the_message_is_removed() -> None:
    seen, root = a_run("some.ValueError", f"ValueError: {WHY}")
    root.events = [SpanEvent("exception", None, {"exception.message": WHY})]
    assert error_of(seen)["message"] == WHY


def test_a_message_that_begins_with_its_class_is_kept_as_it_is() -> None:
    seen, _ = a_run(said=f"ValueError: {WHY}")
    assert error_of(seen)["message"] == f"ValueError: {WHY}"


# -------------------------------------------------------------------------------- where it arose


def test_an_error_arose_in_the_innermost_span_that_has_it() -> None:
    seen, root = a_run("some.module.ValueError")
    tool = a_tool(seen, root, "ValueError")
    call = seen.add(Inference(error_type="ValueError"), parent=tool, status_message=WHY)
    error = error_of(seen)
    assert error == {"type": "some.module.ValueError", "message": WHY, "span_id": call.span_id}


def test_of_several_spans_with_an_error_it_arose_in_the_last() -> None:
    seen, root = a_run()
    a_tool(seen, root)
    last = a_tool(seen, root)
    assert error_of(seen)["span_id"] == last.span_id


@pytest.mark.parametrize(("error", "said"), [("ValueError", "of Y"), ("TypeError", WHY)])
def test_another_error_inside_is_not_where_it_arose(error: str, said: str) -> None:
    seen, root = a_run()
    a_tool(seen, root, error, said)
    assert error_of(seen)["span_id"] == root.span_id


def test_an_error_may_pass_through_plumbing_spans_without_errors() -> None:
    seen, root = a_run()
    tool = a_tool(seen, seen.add(Unclassified(), parent=root, seconds=5))
    assert error_of(seen)["span_id"] == tool.span_id


def test_an_error_does_not_pass_through_a_successful_operation() -> None:
    seen, root = a_run()
    a_tool(seen, a_tool(seen, root, None, None))
    assert error_of(seen)["span_id"] == root.span_id


def test_an_error_may_arise_in_a_nested_run() -> None:
    seen, root = a_run()
    inner = seen.add(agent("writer", error_type="ValueError"), parent=root, status_message=WHY)
    tool = a_tool(seen, inner)
    assert [trace["metadata"]["error"]["span_id"] for trace in seen.rebuilt()] == [
        tool.span_id,
        tool.span_id,
    ]


def test_the_origin_is_found_through_a_thousand_nested_runs() -> None:
    seen, above = a_run()
    for _ in range(1000):
        above = seen.add(agent(error_type="ValueError"), parent=above, status_message=WHY)
    origins = {trace["metadata"]["error"]["span_id"] for trace in seen.rebuilt()}
    assert origins == {above.span_id}


# ----------------------------------------------------------- where a run says only that it failed


def test_the_error_is_that_of_the_failure_that_ended_the_run() -> None:
    seen, root = a_run("_OTHER", None)
    a_tool(seen, root, said="was handled")
    last = a_tool(seen, root)
    assert error_of(seen) == {"type": "ValueError", "message": WHY, "span_id": last.span_id}


def test_a_failure_after_which_the_run_went_on_did_not_end_it() -> None:
    seen, root = a_run("_OTHER", None)
    a_tool(seen, root)
    seen.add(Inference(), parent=root)
    assert error_of(seen) is None


def test_a_failure_of_another_class_did_not_end_it() -> None:
    seen, root = a_run("KeyboardInterrupt", None)
    a_tool(seen, root)
    assert error_of(seen) == {"type": "KeyboardInterrupt", "span_id": root.span_id}


# -------------------------------------------------------------------------------- how true it is


def test_the_report_names_span_and_attribute() -> None:
    seen, root = a_run()
    tool = a_tool(seen, root)
    found = [
        (note.field, note.outcome, note.span_id, note.attribute) for note in notes_of(seen).values()
    ]
    assert found == [
        ("metadata.error.type", "kept", root.span_id, "error.type"),
        ("metadata.error.message", "kept", root.span_id, "status.message"),
        ("metadata.error.span_id", "inferred", tool.span_id, None),
    ]


def test_a_message_from_an_inner_span_is_inferred() -> None:
    seen, root = a_run("_OTHER", None)
    tool = a_tool(seen, root)
    note = notes_of(seen)["metadata.error.message"]
    assert (note.outcome, note.span_id) == ("inferred", tool.span_id)
    assert note.rule is not None
    assert note.rule.startswith("the run says no more than '_OTHER'")


def test_an_error_type_that_a_dialect_rewrites_is_normalised() -> None:
    seen, _ = a_run("<class 'some.ValueError'>")
    note = notes_of(seen)["metadata.error.type"]
    assert error_of(seen)["type"] == "some.ValueError"
    assert (note.outcome, note.attribute) == ("normalised", "error.type")


def test_a_message_from_the_span_around_a_call_names_that_span() -> None:
    seen = Collected()
    outer = seen.add(Inference(error_type="NotFound"), seconds=5, status_message="404")
    inner = seen.add(Inference(error_type="not_found"), parent=outer)
    assert error_of(seen) == {"type": "not_found", "message": "404", "span_id": inner.span_id}
    assert notes_of(seen)["metadata.error.message"].span_id == outer.span_id


def test_a_masked_message_is_redacted() -> None:
    seen, _ = a_run(said=f"no such key: {MASK}")
    [found] = rebuild(seen.spans)
    redacted = [note.field for note in found.fidelity.notes if note.outcome == "redacted"]
    assert redacted == ["metadata.error.message"]


def test_the_error_of_a_tool_without_words_is_its_class() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(ToolExecution(name="t", error_type="KeyboardInterrupt", tool_error=""), parent=root)
    assert seen.rebuilt()[0]["steps"][1]["tool_result"]["error"] == "KeyboardInterrupt"
