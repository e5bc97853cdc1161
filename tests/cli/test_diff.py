"""`diff`: differences between the runs of two sources, for people and as JSON Lines."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from tests.cli.conftest import Invoke

Object = dict[str, Any]
TRACE: Object = json.loads(
    (Path(__file__).parent.parent / "fixtures" / "spec" / "reasoning-trace.json").read_text()
)


def write(name: str, *traces: Object) -> str:
    Path(name).write_text("\n".join(map(json.dumps, traces)))
    return name


def trace(**members: Any) -> Object:
    return {**copy.deepcopy(TRACE), **members}


def with_limit(limit: int, **members: Any) -> Object:
    """The trace with a limit of its search."""
    result = trace(**members)
    (call,) = (step["tool_call"] for step in result["steps"] if step["type"] == "tool_call")
    call["arguments"]["limit"] = limit
    return result


def lines(result: Result) -> list[Object]:
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_a_run_compared_with_itself_is_the_same(invoke: Invoke, recording: Path) -> None:
    result = invoke("diff", recording, recording)
    assert result.exit_code == 0, result.stderr
    (match,) = lines(result)
    assert match["same"] is True
    assert match["steps"] == match["unknown"] == []
    assert "1 the same, 0 different" in result.stderr


def test_differences_are_reported_and_set_the_exit_code(invoke: Invoke) -> None:
    a, b = (
        write("a.json", with_limit(5, trace_id="one")),
        write("b.json", with_limit(3, trace_id="two")),
    )
    result = invoke("diff", a, b)
    assert result.exit_code == 1
    (match,) = lines(result)
    assert (match["a"], match["b"], match["by"]) == ("one", "two", "the only traces")
    (step,) = match["steps"]
    assert step["changes"] == [{"path": "arguments.limit", "a": 5, "b": 3}]


def test_the_text_has_marks_and_the_smallest_differing_pieces(invoke: Invoke) -> None:
    limit = with_limit(3, output="else", metrics={})
    limit["steps"].insert(1, {"type": "reasoning", "content": "hm"})
    a, b = write("a.json", with_limit(5)), write("b.json", limit)
    shown = invoke("diff", a, b, "--text").stdout
    assert shown.splitlines()[0].startswith(f"≠ {TRACE['agent_id']}  different  ")
    assert "  +       2  reasoning      hm" in shown
    assert "  ~     2→3  tool_call      search_web(" in shown
    assert "\n      arguments.limit: 5 → 3\n" in shown
    assert "  tokens        3,200 → unknown\n" in shown
    assert " the same · 1 changed · 1 added\n" in shown


def test_no_line_is_wider_than_the_terminal(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = "The river that the city lies on is called the Seine. " * 20
    a, b = trace(output=long), trace(output=long.replace("Seine", "Tiber"))
    b["steps"].insert(0, {"type": "reasoning", "content": long})
    for width in (50, 80, 120):
        monkeypatch.setenv("COLUMNS", str(width))
        shown = invoke("diff", write("a.json", a), write("b.json", b), "--text").stdout
        assert max(map(len, shown.splitlines())) <= width
        assert "Tiber" in shown
    full = invoke("diff", "a.json", "b.json", "--text", "--full").stdout
    assert full.replace("\n", " ").count("Tiber") == 20


def test_control_characters_of_a_trace_do_not_reach_the_terminal(invoke: Invoke) -> None:
    b = trace(output="\x1b[2J", agent_id="\x1b]0;x\x07")
    b["steps"].append({"type": "\x1b[1m", "content": "\x1b[2J", "step_id": "\x1b"})
    shown = invoke("diff", write("a.json", trace()), write("b.json", b), "--text")
    assert "\x1b" not in shown.stdout + shown.stderr


@pytest.mark.parametrize(
    ("chosen", "expected"),
    [
        (("r.jsonl#1", "r.jsonl#2"), ("first", "second")),
        (("r.jsonl#first", "r.jsonl#sec"), ("first", "second")),
        (("r.jsonl#2", "one.json"), ("second", "alone")),
        (("#1", "2"), ("first", "second")),
        (("a#b.json", "one.json"), ("alone", "alone")),
    ],
)
def test_one_trace_is_named_by_number_or_id(
    invoke: Invoke, chosen: tuple[str, str], expected: tuple[str, str]
) -> None:
    Path(".agentool").mkdir()
    for place in ("r.jsonl", ".agentool/r.jsonl"):
        write(place, trace(trace_id="first"), trace(trace_id="second"))
    write("one.json", trace(trace_id="alone"))
    write("a#b.json", trace(trace_id="alone"))
    (result,) = lines(invoke("diff", *chosen))
    assert (result["a"], result["b"]) == expected


def test_traces_are_paired_by_case_or_by_input(invoke: Invoke) -> None:
    a = write(
        "a.jsonl",
        trace(trace_id="a1", metadata={"case_id": "one"}),
        trace(trace_id="a2", input="who?"),
        trace(trace_id="a3", input="lost"),
    )
    b = write(
        "b.jsonl",
        with_limit(1, trace_id="b2", input="who?"),
        trace(trace_id="b1", metadata={"case_id": "one"}),
        trace(trace_id="b3", input="added"),
    )
    result = invoke("diff", a, b)
    assert [(line["a"], line["b"], line["same"]) for line in lines(result)] == [
        ("a1", "b1", True),
        ("a2", "b2", False),
        ("a3", None, False),
        (None, "b3", False),
    ]
    assert lines(result)[0]["by"] == "case one"
    assert lines(result)[2]["why"] == "no other trace is left with its input"
    assert "1 the same, 1 different, 1 lost, 1 added" in result.stderr
    shown = invoke("diff", a, b, "--text").stdout
    assert "only in A\n  no other trace is left with its input\n" in shown


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 1),
        (["--skip", "arguments"], 1),
        (["--skip", "arguments,output"], 0),
        (["--skip", "arguments", "--skip", "output"], 0),
        (["--skip", "arguments", "--ignore", "[0-9]{4}"], 0),
        (["--skip", "arguments", "--ignore-times"], 0),
        (["--skip", "arguments", "--ignore-ids"], 1),
        (["--fail-on", "never"], 0),
    ],
)
def test_what_to_ignore_can_be_chosen(invoke: Invoke, options: list[str], code: int) -> None:
    a = write("a.json", trace(output="on 2025-01-01"))
    b = write("b.json", with_limit(1, output="on 2026-01-01"))
    assert invoke("diff", a, b, *options).exit_code == code


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 0),
        (["--tolerance", "tokens=10%"], 1),
        (["--tolerance", "tokens=60%"], 0),
        (["--tolerance", "tokens=60%,duration=1s"], 1),
        (["--tolerance", "cost=0.01"], 0),
        (["--tolerance", "cost=0.01", "--fail-on", "any"], 1),
    ],
)
def test_totals_count_with_a_tolerance(invoke: Invoke, options: list[str], code: int) -> None:
    a = write("a.json", trace(metrics={"total_tokens": 100, "total_duration_ms": 1000}))
    b = write("b.json", trace(metrics={"total_tokens": 150, "total_duration_ms": 9000}))
    assert invoke("diff", a, b, *options).exit_code == code


def test_what_cannot_be_compared_is_reported_separately(invoke: Invoke) -> None:
    a, b = write("a.json", trace()), write("b.json", trace(output="[masked]"))
    result = invoke("diff", a, b, "--text")
    assert result.exit_code == 0
    assert "the same as far as known" in result.stdout
    assert "  ? output: is redacted: masked as a credential" in result.stdout
    assert "1 not all of which can be told" in result.stderr
    assert invoke("diff", a, b, "--fail-on", "any").exit_code == 1
    assert [item["path"] for item in lines(invoke("diff", a, b))[0]["unknown"]] == ["output"]


def test_differences_go_to_a_file_and_never_to_an_input(invoke: Invoke) -> None:
    a, b = write("a.json", trace()), write("b.json", with_limit(1))
    result = invoke("diff", a, b, "-o", "d.jsonl")
    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(Path("d.jsonl").read_text())["same"] is False
    both = invoke("diff", a, b, "-o", "d.jsonl", "--text")
    assert both.stdout.startswith("≠")
    for place in (a, b):
        before = Path(place).read_text()
        assert invoke("diff", a, b, "-o", place).exit_code == 2
        assert Path(place).read_text() == before


def test_either_side_may_be_standard_input(invoke: Invoke) -> None:
    a = write("a.json", trace())
    text = json.dumps(trace(trace_id="x")).encode()
    (result,) = lines(invoke("diff", a, "-", input=text))
    assert result["b"] == "x"
    assert invoke("diff", "-", "-", input=text).exit_code == 2


def test_partly_unreadable_input_is_not_a_success(invoke: Invoke) -> None:
    a, b = write("a.json", trace()), write("b.json", trace())
    with Path(b).open("a") as file:
        file.write("\n{broken\n")
    result = invoke("diff", a, b)
    assert result.exit_code == 1
    assert lines(result)[0]["same"] is True
    assert "problem: b.json line 2" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["nowhere", "a.json"], 3, "nowhere does not exist"),
        (["a.json", "nowhere#1"], 3, "nowhere does not exist"),
        (["a.json", "text"], 3, "text"),
        (["a.json"], 2, "Missing argument 'B'"),
        (["a.json", "a.json#7"], 2, "no run 7 among the 1 of a.json"),
        (["a.json", "a.json#"], 2, "names no trace; hint:"),
        (["a.json", "a.json", "--skip", "colour"], 2, "no part is called 'colour'"),
        (["a.json", "a.json", "--ignore", "("], 2, "is no regular expression"),
        (["a.json", "a.json", "--tolerance", "tokens"], 2, "has no amount"),
        (["a.json", "a.json", "--tolerance", "tokens=x"], 2, "'x' is no tolerance for tokens"),
        (["empty.json", "empty.json"], 1, "no agent runs in empty.json"),
    ],
)
def test_usage_and_input_errors_are_reported(
    invoke: Invoke, arguments: list[str], code: int, said: str
) -> None:
    write("a.json", trace())
    Path("text").write_text("dear diary")
    Path("empty.json").write_text("")
    result = invoke("diff", *arguments)
    assert result.exit_code == code, result.output
    assert said in result.stderr.replace("\n ", "; ")


def test_two_thousand_steps_differ_where_one_was_added(invoke: Invoke) -> None:
    steps: list[Object] = []
    for n in range(1000):
        call = {"id": f"c{n}", "name": f"tool_{n % 5}", "arguments": {"query": f"query {n % 50}"}}
        steps += (
            {"type": "tool_call", "tool_call": call},
            {"type": "tool_result", "tool_result": {"call_id": f"c{n}", "output": n % 7}},
        )
    more = [*steps[:999], {"type": "reasoning", "content": "hm"}, *steps[999:]]
    a, b = (write(f"{n}.json", trace(steps=item)) for n, item in enumerate((steps, more)))
    (result,) = lines(invoke("diff", a, b))
    assert [(step["kind"], step["b_step"]["place"]) for step in result["steps"]] == [
        ("added", 1000)
    ]
    assert result["equal_steps"] == 1000
