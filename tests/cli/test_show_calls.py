"""`show RUN`: model calls between the steps, and what is inferred of a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.semconv import agentool
from tests.cli.conftest import Invoke
from tests.reading.sources.encoders.otlp import otlp
from tests.records import Collected, agent

_QUESTION = message("user", [text("weather?")])
_REQUEST = message("assistant", [reasoning("look it up"), tool_call("look", {"q": "x"}, "c1")])
_RESULT = message("tool", [tool_response("sunny", "c1")])


def run(inferred: bool = False, **failure: Any) -> str:
    """A call, its tool and a last call, saved in a file."""
    spans = Collected()
    root = spans.add(agent("desk", input=[_QUESTION]), seconds=9)
    usage = ops.Usage(input_tokens=1200, output_tokens=5)
    spans.add(
        ops.Inference(request_model="m", input=[_QUESTION], output=[_REQUEST], usage=usage,
                      response_model="m-1", finish_reasons=["tool_call"]),
        parent=root, seconds=0.5,
    )  # fmt: skip
    tool = spans.add(ops.ToolExecution(name="look", call_id="c1", result="sunny"), parent=root)
    history = [_QUESTION, _REQUEST, _RESULT]
    spans.add(ops.Inference(request_model="m", input=history, **failure), parent=root)
    if inferred:
        root.attributes = {**root.attributes, agentool.INFERRED: "run"}
        tool.attributes = {**tool.attributes, agentool.INFERRED: "times"}
    Path("spans.json").write_text(json.dumps(otlp(spans.spans)))
    return "spans.json"


def lines_of(invoke: Invoke, *args: object) -> list[str]:
    shown = invoke("show", *args).stdout.split("\n\n")[1]
    return [" ".join(line.split()) for line in shown.splitlines()]


def test_model_calls_stand_between_the_steps(invoke: Invoke) -> None:
    assert lines_of(invoke, run(error_type="RateLimitError"), 1, "--calls") == [
        "+1 s model call m-1 500 ms in=1,200 out=5 finish=tool_call",
        "1 +1.5 s reasoning look it up",
        '2 +2 s tool_call look(q="x")',
        "3 +3 s tool_result look (1 s) → sunny",
        "+3 s model call m 1 s ✗ RateLimitError",
    ]


def test_without_the_option_there_are_only_steps(invoke: Invoke) -> None:
    assert len(lines_of(invoke, run(), 1)) == 3


def test_the_only_run_has_its_calls_without_a_number(invoke: Invoke) -> None:
    assert (
        invoke("show", run(), "--calls").stdout == invoke("show", "spans.json", 1, "--calls").stdout
    )


def test_json_is_the_same_with_calls(invoke: Invoke) -> None:
    assert (
        invoke("show", run(), "--json", "--calls").stdout == invoke("show", run(), "--json").stdout
    )


def test_a_call_inside_an_inner_run_is_not_one_of_the_outer(invoke: Invoke) -> None:
    spans = Collected()
    root = spans.add(agent("desk"))
    inner = spans.add(agent("clerk"), parent=root)
    spans.add(ops.Inference(request_model="small"), parent=inner)
    spans.add(ops.Inference(request_model="big"), parent=root)
    Path("spans.json").write_text(json.dumps(otlp(spans.spans)))
    outer, inner_lines = (invoke("show", "spans.json", n, "--calls").stdout for n in (1, 2))
    assert ("big" in outer, "small" in outer) == (True, False)
    assert ("big" in inner_lines, "small" in inner_lines) == (False, True)


def test_a_document_has_no_model_calls(invoke: Invoke) -> None:
    document = {"trace_id": "t", "agent_id": "a", "status": "success", "steps": []}
    Path("runs.jsonl").write_text(json.dumps(document))
    result = invoke("show", "runs.jsonl", 1, "--calls")
    assert result.exit_code == 2
    assert "only runs rebuilt from spans have model calls" in result.stderr


@pytest.mark.parametrize(("inferred", "took"), [(True, "≤1 s"), (False, "1 s")])
def test_what_is_inferred_is_marked(invoke: Invoke, inferred: bool, took: str) -> None:
    shown = invoke("show", run(inferred), 1).stdout
    assert shown.startswith("desk (inferred run)  ✓" if inferred else "desk  ✓")
    assert f"look ({took}) → sunny" in shown
    assert (
        f"execute_tool look  {took}   → sunny" in invoke("show", run(inferred), 1, "--spans").stdout
    )
