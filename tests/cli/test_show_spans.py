"""`show --spans`: the spans of the recording, under their own trace ids."""

from __future__ import annotations

import json
from pathlib import Path

from agentool_otel.model import operations as ops
from agentool_otel.model.messages import Message, message, text, tool_call, tool_response
from agentool_otel.model.spans import SpanRecord
from tests.cli.conftest import Invoke
from tests.reading.sources.encoders.otlp import otlp
from tests.records import Collected

_QUESTION = message("user", [text("weather?")])
_REQUEST = message("assistant", [tool_call("look", {"q": "x"}, "c1")])
_RESULT = message("tool", [tool_response("sunny", "c1")])


def answer(words: str) -> Message:
    return message("assistant", [text(words)])


def chat(history: list[Message], output: Message) -> ops.Inference:
    return ops.Inference(request_model="m", input=history, output=[output])


def loop_of_two_traces() -> list[SpanRecord]:
    spans = Collected()
    spans.add(chat([_QUESTION], _REQUEST))
    spans.add(chat([_QUESTION, _REQUEST, _RESULT], answer("Sunny.")))
    return spans.spans


def saved(spans: list[SpanRecord]) -> str:
    Path("spans.json").write_text(json.dumps(otlp(spans)))
    return "spans.json"


def test_a_run_of_several_traces_has_their_ids(invoke: Invoke) -> None:
    spans = loop_of_two_traces()
    shown = invoke("show", saved(spans), 1, "--spans").stdout
    titles = [line for line in shown.splitlines() if line.startswith("trace ")]
    assert titles == [f"trace {span.trace_id}  1 span" for span in spans]


def test_the_spans_of_the_only_run_are_those_of_the_recording(invoke: Invoke) -> None:
    place = saved(loop_of_two_traces())
    assert invoke("show", place, 1, "--spans").stdout == invoke("show", place, "--spans").stdout


def test_a_call_without_a_step_is_one_of_the_spans(invoke: Invoke) -> None:
    """A chat of which each answer is an output, and no step."""
    spans = Collected()
    root = spans.add(ops.AgentInvocation(agent_name="desk"))
    spans.add(chat([_QUESTION], answer("Sunny.")), parent=root)
    other = spans.add(ops.WorkflowInvocation(workflow_name="night"))
    shown = invoke("show", saved(spans.spans), 1, "--spans").stdout
    assert "desk" in shown
    assert "chat m" in shown
    assert other.name not in shown


def test_runs_inside_a_run_are_shown_once(invoke: Invoke) -> None:
    spans = Collected()
    root = spans.add(ops.AgentInvocation(agent_name="desk"))
    inner = spans.add(ops.AgentInvocation(agent_name="clerk"), parent=root)
    spans.add(chat([_QUESTION], _REQUEST), parent=inner)
    spans.add(chat([_QUESTION], _REQUEST), parent=root)
    place = saved(spans.spans)
    for which in (["1"], ["--last", "1"]):
        assert invoke("show", place, *which, "--spans").stdout.count("invoke_agent clerk") == 1
