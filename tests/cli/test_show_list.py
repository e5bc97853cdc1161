"""`show` of several runs: their order, their numbers, their sessions, and which of them."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.cli import main
from agentool_otel.cli._order import Place, in_order
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference
from agentool_otel.semconv import agentool as names_of_ours
from tests.cli.conftest import AGENT, Invoke, agentool
from tests.click_runner import CliRunner
from tests.docs.terminal import run_in_terminal
from tests.reading.sources.encoders.otlp import otlp
from tests.records import Collected, agent

Documents = list[dict[str, Any]]


def document(n: int, **members: Any) -> dict[str, Any]:
    """A run that started in minute `n`."""
    return {
        "trace_id": f"run-{n}",
        "agent_id": "desk",
        "started_at": f"2026-11-22T{n // 60:02}:{n % 60:02}:00Z",
        "input": f"question {n}",
        "status": "success",
        "steps": [],
        **members,
    }


def written(documents: Documents, path: str = "runs.jsonl") -> str:
    Path(path).write_text("".join(json.dumps(item) + "\n" for item in documents))
    return path


def rows(invoke: Invoke, *args: object) -> list[list[str]]:
    """The rows of the list, each as its words."""
    lines = invoke("show", *args).stdout.splitlines()
    return [line.split() for line in lines[1:] if line and not line.startswith("session")]


def numbers(invoke: Invoke, *args: object) -> list[int]:
    return [int(row[0]) for row in rows(invoke, *args)]


# ------------------------------------------------------------------------------------- numbers


def test_runs_are_numbered_in_order_of_time_however_they_are_stored(invoke: Invoke) -> None:
    documents = [document(n) for n in range(1, 30)]
    Random(7).shuffle(documents)
    listed = rows(invoke, written(documents))
    assert [row[:2] for row in listed] == [[str(n), f"run-{n}"] for n in range(1, 30)]
    lines = invoke("show", "runs.jsonl", "--json").stdout.splitlines()
    assert [json.loads(line)["trace_id"] for line in lines] == [row[1] for row in listed]


def test_a_number_above_999_is_shown_in_full_and_names_its_run(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    place = written([document(n % 1440, trace_id=f"run-{n}") for n in range(1, 1202)])
    assert rows(invoke, place)[-1][:2] == ["1201", "run-1201"]
    assert "question 1200" in invoke("show", place, 1200).stdout


def test_a_number_is_never_the_start_of_an_id(invoke: Invoke) -> None:
    ids = ["7a0e9c11", "2", "123456ff", "1234567f"]
    place = written([document(n, trace_id=id_) for n, id_ in enumerate(ids, 1)])
    for command in (["show", place, "7"], ["diff", f"{place}#7", f"{place}#1"]):
        result = invoke(*command)
        assert result.exit_code == 2
        assert f"no run 7 among the 4 of {place}" in result.stderr
    assert invoke("show", place, "123456").exit_code == 2
    assert "question 2" in invoke("show", place, "2").stdout
    assert "question 4" in invoke("show", place, "1234567").stdout
    assert "question 1" in invoke("show", place, "7a0e").stdout


def test_a_number_goes_before_an_id_of_the_same_digits(invoke: Invoke) -> None:
    place = written(
        [document(1, trace_id="2"), document(2, trace_id="x"), document(3, trace_id="99")]
    )
    assert "question 2" in invoke("show", place, "2").stdout
    assert "question 3" in invoke("show", place, "99").stdout


def test_a_number_is_found_on_standard_input_too(invoke: Invoke) -> None:
    text = "".join(json.dumps(document(n)) + "\n" for n in (3, 1, 2)).encode()
    assert "question 2" in invoke("show", "-", 2, input=text).stdout


def test_runs_inside_a_run_follow_it(invoke: Invoke) -> None:
    inner = document(9, trace_id="inner", metadata={"parent_trace_id": "run-1"})
    place = written([document(5), inner, document(1)])
    assert [row[1] for row in rows(invoke, place)] == ["run-1", "inner", "run-5"]


IDS = st.sampled_from("abcdef")
PLACES = st.lists(st.builds(Place, IDS, st.none() | IDS, st.none() | st.integers(0, 5)))


@given(PLACES)
def test_nested_runs_have_numbers_of_their_own(
    places: list[Place],
) -> None:
    assert sorted(in_order(places)) == list(range(len(places)))


@given(st.lists(st.integers(0, 99), unique=True), st.randoms())
def test_a_later_run_changes_no_number(starts: list[int], random: Random) -> None:
    places = [Place(str(start), None, start) for start in starts]
    before = [places[position].trace_id for position in in_order(places)]
    more = [*places, Place("later", None, 100)]
    random.shuffle(more)
    assert [more[position].trace_id for position in in_order(more)] == [*before, "later"]


# ------------------------------------------------------------------------------------ selection

SOME = [
    document(1, agent_id="research-1"),
    document(2, status="error", metadata={"error": {"type": "ValueError"}}),
    document(3, status="error", metadata={"error": {"type": "asyncio.CancelledError"}}),
    document(4, session_id="chat-1", output="It costs 40 EUR."),
    document(5, session_id="chat-2", metadata={"tags": ["eu"]}),
]


@pytest.mark.parametrize(
    ("options", "selected"),
    [
        (["--agent", "desk"], [2, 3, 4, 5]),
        (["--status", "error"], [2, 3]),
        (["--status", "error", "--status", "success", "--agent", "des*"], [2, 3, 4, 5]),
        (["--session", "chat-*"], [4, 5]),
        (["--text", "EUR", "--text", "question 1"], [1, 4]),
        (["--since", "2026-11-22T00:02:00Z", "--until", "2026-11-22T00:04:00Z"], [2, 3]),
        (["--last", "2"], [4, 5]),
        (["--last", "2", "--status", "success"], [4, 5]),
    ],
)
def test_what_is_selected_keeps_its_numbers(
    invoke: Invoke, options: list[str], selected: list[int]
) -> None:
    place = written(SOME)
    assert numbers(invoke, place, *options) == selected
    lines = invoke("show", place, *options, "--json").stdout.splitlines()
    assert [json.loads(line)["trace_id"] for line in lines] == [f"run-{n}" for n in selected]


def test_the_only_run_that_is_selected_is_shown_in_full(invoke: Invoke) -> None:
    place = written(SOME)
    for options in (["--text", "costs 40 eur"], ["--last", "1", "--session", "chat-1"]):
        assert "output   It costs 40 EUR." in invoke("show", place, *options).stdout
    assert invoke("show", place, "--tag", "eu").stdout == invoke("show", place, 5).stdout


def test_the_last_runs_come_with_the_runs_inside_them(invoke: Invoke) -> None:
    inner = document(9, metadata={"parent_trace_id": "run-2"})
    place = written([document(0), document(1), document(2), inner])
    assert numbers(invoke, place, "--last", "2") == [2, 3, 4]


def test_one_outer_run_is_shown_in_full_and_its_inner_runs_are_listed(invoke: Invoke) -> None:
    inner = [
        document(8, metadata={"parent_trace_id": "run-2"}, session_id="chat-1"),
        document(9, metadata={"parent_trace_id": "run-8"}),
    ]
    place = written([document(1), document(2), *inner])
    full = invoke("show", place, 2).stdout
    shown = invoke("show", place, "--last", "1").stdout
    assert shown.startswith(f"{full}\n#  trace ")
    assert [line.split()[:2] for line in shown.removeprefix(full).splitlines()[2:]] == [
        ["3", "run-8"],
        ["4", "run-9"],
    ]
    assert invoke("show", place, "--last", "1", "--agent", "*").stdout == shown
    alone = written([document(2), *inner])
    assert "run-8" in invoke("show", alone).stdout
    assert "  totals   0 steps" in invoke("show", alone).stdout


def test_the_hint_for_one_run_names_an_outer_one_and_can_be_pasted(tmp_path: Path) -> None:
    inner = document(9, metadata={"parent_trace_id": "run-2"})
    written([document(1), document(2), inner], "my runs.jsonl")
    command = [sys.executable, "-m", "agentool_otel", "show", "my runs.jsonl"]
    _, both = run_in_terminal(command, tmp_path, os.environ, 60)
    assert "agentool_otel show 'my runs.jsonl' 2    the steps of run 2" in both
    _, last = run_in_terminal([*command, "--last", "1"], tmp_path, os.environ, 60)
    assert "agentool_otel show 'my runs.jsonl' 3    the steps of run 3" in last


def test_an_empty_selection_is_reported(invoke: Invoke) -> None:
    result = invoke("show", written(SOME), "--agent", "nobody")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr == (
        "none of the 5 runs of runs.jsonl is selected\n"
        " hint: no run has the agent 'nobody'; there are 'desk', 'research-1'\n"
    )


def test_one_run_and_a_selection_of_all_exclude_each_other(invoke: Invoke) -> None:
    result = invoke("show", written(SOME), 1, "--status", "error")
    assert result.exit_code == 2
    assert "TRACE selects one run already" in result.stderr


def test_the_spans_of_what_is_selected(invoke: Invoke, recording: Path, recorded: bytes) -> None:
    lines = recorded.splitlines()
    trace_id = json.loads(lines[0])["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
    text = recorded.replace(trace_id.encode(), b"%032x" % 7).replace(b"adder", b"other")
    recording.write_bytes(recorded + text)
    shown = invoke("show", recording, "--spans", "--agent", "other").stdout
    assert "invoke_agent other" in shown
    assert "invoke_agent adder" not in shown
    explained = invoke("show", recording, "--explain", "--last", "1").stdout
    assert explained.count("how the spans were read") == 1


@pytest.mark.parametrize("options", [["--session", "chat-1"], ["--text", "40 eur"]])
def test_eval_selects_by_the_same_options(invoke: Invoke, options: list[str]) -> None:
    case = {"case_id": "any", "assertions": [{"type": "status", "status": "success"}]}
    Path("case.json").write_text(json.dumps(case))
    result = invoke("eval", "case.json", written(SOME), *options)
    assert "4 traces not selected" in result.stderr


# ------------------------------------------------------------------------------------ the lines


def _sessions(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The lines above the blocks of the list, and the ids of the runs below each."""
    for block in "\n".join(lines[1:]).split("\n\n"):
        first, *others = block.splitlines() or [""]
        if first.startswith("session"):
            yield first, [line.split()[1] for line in others]


def test_runs_are_grouped_by_session_with_the_newest_last(invoke: Invoke) -> None:
    of = {1: "a", 2: "b", 3: None, 4: "a", 5: "b", 6: "alone"}
    place = written([document(n, session_id=session) for n, session in of.items()])
    lines = invoke("show", place).stdout.splitlines()
    assert list(_sessions(lines)) == [
        ("session a  2 runs", ["run-1", "run-4"]),
        ("session b  2 runs", ["run-2", "run-5"]),
    ]
    assert numbers(invoke, place) == [3, 1, 4, 2, 5, 6]


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal_and_no_number_is_cut(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    metrics = {"total_tokens": 1_234_567_890, "total_duration_ms": 4_000_000.0}
    long = {"agent_id": "an-agent-with-a-very-long-name", "input": "words " * 99}
    place = written([document(n, metrics=metrics, **long) for n in range(1, 101)])
    lines = invoke("show", place).stdout.splitlines()
    assert max(map(len, lines)) <= width
    for column, figure in {"duration": "1 h 06 min", "tokens": "1,234,567,890"}.items():
        assert all((figure in line) == (column in lines[0]) for line in lines[1:])


def test_figures_give_way_to_what_identifies_a_run(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agent, the time and enough of the input stay; the model goes after the other figures."""
    spans = Collected()
    for n in range(3):
        root = spans.add(agent("booking-agent", input=[message("user", [text(f"Book seat {n}")])]))
        spans.add(Inference(request_model="gpt-5"), parent=root)
    Path("spans.json").write_text(json.dumps(otlp(spans.spans)))
    seen: list[list[str]] = []
    for width in range(80, 130):
        monkeypatch.setenv("COLUMNS", str(width))
        heading, *lines = invoke("show", "spans.json").stdout.splitlines()
        assert all("2023-11-1" in line and "booking-agent" in line for line in lines)
        assert all(f"Book seat {n}" in line for n, line in enumerate(lines))
        if not seen or heading.split() != seen[-1]:
            seen.append(heading.split())
    added = [set(wide) - set(narrow) for narrow, wide in pairwise(seen)]
    assert seen[0] == ["#", "trace", "started", "agent", "status", "duration", "input"]
    assert added == [{"model"}, {"steps"}, {"tokens"}, {"tools"}]


def test_a_run_of_today_has_the_time_and_an_older_one_the_date(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    time.tzset()
    try:
        now = datetime.now(timezone.utc)
        started = [now.isoformat(), "2019-03-01T22:00:00Z"]
        place = written([document(n, started_at=at) for n, at in enumerate(started)])
        older, today = rows(invoke, place)
        here = now.astimezone(timezone(timedelta(hours=5, minutes=30)))
        assert older[2] == "2019-03-02"
        assert today[2] in (f"{here:%H:%M:%S}", f"{here:%m-%d}")  # after midnight
    finally:
        monkeypatch.undo()
        time.tzset()


def test_the_model_that_answered_most_is_named(invoke: Invoke) -> None:
    spans = Collected()
    root = spans.add(agent())
    spans.add(Inference(request_model="small", response_model="small-2"), parent=root)
    spans.add(Inference(request_model="big"), parent=root)
    spans.add(Inference(request_model="big"), parent=root)
    spans.add(agent("quiet"))
    Path("spans.json").write_text(json.dumps(otlp(spans.spans)))
    first, second = rows(invoke, "spans.json")
    assert first[4:6] == ["big", "+1"]
    assert second[4] == "-"


def test_an_inferred_run_is_marked(invoke: Invoke) -> None:
    spans = Collected()
    for marks in ({names_of_ours.INFERRED: "run"}, {}):
        span = spans.add(agent("desk"))
        span.attributes = {**span.attributes, **marks}
    Path("spans.json").write_text(json.dumps(otlp(spans.spans)))
    first, second = invoke("show", "spans.json").stdout.splitlines()[1:]
    assert "  ~ desk  " in first
    assert "~" not in second


@pytest.mark.parametrize(
    ("kind", "word"),
    [
        ("KeyboardInterrupt", "■ interrupted"),
        ("interrupted", "■ interrupted"),
        ("asyncio.exceptions.CancelledError", "■ cancelled"),
        ("trio.Cancelled", "■ cancelled"),
        ("SystemExit", "■ exited"),
        ("ValueError", "✗ error"),
    ],
)
def test_a_run_that_was_stopped_has_not_failed(invoke: Invoke, kind: str, word: str) -> None:
    stopped = document(1, status="error", metadata={"error": {"type": kind}})
    place = written([stopped, document(2)])
    assert f"desk   {word} " in invoke("show", place).stdout
    assert f"desk  {word}" in invoke("show", place, 1).stdout
    assert numbers(invoke, place, "--status", "*") == [1, 2]
    if word != "✗ error":
        assert "question 1" in invoke("show", place, "--status", word[2:]).stdout


def test_the_reason_of_an_interrupted_run_is_shown(invoke: Invoke) -> None:
    paused = document(1, status="in_progress", metadata={"interrupted": "GraphInterrupt"})
    shown = invoke("show", written([paused])).stdout
    assert "note     stopped before its end, without an error: GraphInterrupt" in shown


# ------------------------------------------------------------------------------- real programs

LOOSE = "\nadd(1, 2)\nadd(3, 4)\n"


def test_a_tool_called_outside_any_agent_is_no_run(tmp_path: Path, invoke: Invoke) -> None:
    (tmp_path / "tools.py").write_text(AGENT.split("if __name__")[0] + LOOSE)
    assert "2 spans, 0 runs recorded" in agentool("run", "tools.py").stderr
    shown = agentool("show").stdout
    first, second = shown.splitlines()[1:]
    assert first.endswith("add(a=1, b=2)")
    assert second.endswith("add(a=3, b=4)")
    assert "tools.py" not in shown.replace("tools  ", "")
    assert "not captured" not in shown
    assert agentool("show", "1").stdout.startswith("(no agent)  ✓ success")


STOPPED = """
import asyncio, os, signal, time
import agentool_otel

@agentool_otel.tool
def wait():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)

@agentool_otel.agent(name="stopped")
def stopped():
    wait()

@agentool_otel.agent(name="left")
async def left():
    await asyncio.sleep(60)

async def main():
    task = asyncio.create_task(left())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)

asyncio.run(main())
stopped()
"""


def test_cancellation_and_interrupts_are_shown_by_name(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(STOPPED)
    assert "KeyboardInterrupt" in agentool("run", "app.py").stderr
    _, left, stopped = agentool("show").stdout.splitlines()
    assert "left     ■ cancelled" in left
    assert "stopped  ■ interrupted" in stopped
    shown = agentool("show", "2").stdout
    assert "error    KeyboardInterrupt" in shown
    assert shown.rstrip().endswith("→ KeyboardInterrupt")


@given(st.integers(20, 130))
def test_only_the_input_is_cut(tmp_path_factory: pytest.TempPathFactory, width: int) -> None:
    folder = tmp_path_factory.mktemp("runs")
    documents = [document(n, metrics={"total_duration_ms": 1000.0 * 7**n}) for n in range(5)]
    place = folder / "runs.jsonl"
    place.write_text("".join(json.dumps(item) + "\n" for item in documents))
    shown = CliRunner(env={"COLUMNS": str(width)}).invoke(main, ["show", str(place)]).stdout
    heading, *lines = shown.splitlines()
    assert all(len(line) <= width for line in lines)
    *names, last = heading.removesuffix("…").split()
    assert set(names) <= {"#", "trace", "started", "agent", "status", "steps", "tools", "tokens",
                          "duration"}  # fmt: skip
    assert "input".startswith(last)
    complete = "7 s", "49 s", "5 min 43 s"
    assert all(any(item in line for line in lines) for item in complete) == ("duration" in names)
