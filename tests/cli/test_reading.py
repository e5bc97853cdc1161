"""`rebuild`, `show` and their handling of bad input."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, agentool

FIXTURES = Path(__file__).parent.parent / "fixtures" / "traces"


def test_rebuild_writes_one_json_line_per_run(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", recording)
    (trace,) = map(json.loads, result.stdout.splitlines())
    assert result.exit_code == 0
    assert trace["agent_id"] == "adder"
    assert "1 trace, 3 spans, no problems" in result.stderr


def test_rebuild_writes_traces_and_fidelity_to_files(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", recording, "-o", "out/t.jsonl", "--fidelity", "out/f.jsonl")
    assert result.stdout == ""
    trace, report = (json.loads(Path(f"out/{name}.jsonl").read_text()) for name in "tf")
    assert trace["trace_id"] == report["trace_id"]
    assert report["summary"]["kept"] > 0


def test_rebuild_writes_other_formats_and_lists_their_losses(
    invoke: Invoke, recording: Path
) -> None:
    result = invoke("rebuild", recording, "--format", "openai-messages", "--fidelity", "f.jsonl")
    (line,) = result.stdout.splitlines()
    roles = [message["role"] for message in json.loads(line)["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"]
    assert (
        "openai-messages: lost: timestamp (4 times): a chat message has no place" in result.stderr
    )
    losses = json.loads(Path("f.jsonl").read_text())["format"]["losses"]
    assert "status" in {loss["member"] for loss in losses if loss["outcome"] == "lost"}


def test_an_empty_outcome_has_a_reason(invoke: Invoke) -> None:
    Path("metrics.json").write_text('{"resourceMetrics": [{"scopeMetrics": []}]}')
    assert "only metrics or log lines in it, no spans" in invoke("rebuild", "metrics.json").stderr


def test_an_unknown_format_is_an_error_of_usage(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", recording, "--format", "csv")
    assert result.exit_code == 2
    assert "no format 'csv'; there are adk-evalset, atif, inspect" in result.stderr


@pytest.mark.parametrize(
    ("word", "hint"), [("rebuil", "did you mean 'rebuild'?"), ("zzz", "agentool-otel --help")]
)
def test_for_an_unknown_command_a_similar_one_is_suggested(
    invoke: Invoke, word: str, hint: str
) -> None:
    result = invoke(word)
    assert result.exit_code == 2
    message, value = result.stderr.splitlines()
    assert message.startswith(f"error: No such command '{word}'")
    assert value == f" hint: {hint}"


def test_the_fidelity_report_lists_losses_of_the_store(invoke: Invoke) -> None:
    stored = FIXTURES / "langfuse_api" / "openai-agents-2025-09-30.trace.json"
    invoke("rebuild", stored, "-o", "t.jsonl", "--fidelity", "f.jsonl")
    report = json.loads(Path("f.jsonl").read_text())
    assert "times are rounded to milliseconds" in report["store_loses"]


def test_a_run_spread_over_two_sources_is_one_trace(invoke: Invoke, recorded: bytes) -> None:
    lines = recorded.splitlines(keepends=True)
    for n, some in enumerate((lines[:1], lines[1:])):
        Path(f"part{n}.jsonl").write_bytes(b"".join(some))
    (trace,) = invoke("rebuild", "part0.jsonl", "part1.jsonl").stdout.splitlines()
    assert len(json.loads(trace)["steps"]) == 4


def test_a_corrupt_line_is_named_and_the_rest_is_delivered(
    invoke: Invoke, recording: Path, recorded: bytes
) -> None:
    recording.write_bytes(b'{"resourceSpans": [broken\n' + recorded)
    result = invoke("rebuild", recording)
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    assert f"{recording} line 1" in result.stderr


def test_the_whole_spans_of_a_truncated_file_are_delivered(invoke: Invoke, recording: Path) -> None:
    recording.write_bytes(recording.read_bytes()[:-300])
    result = invoke("rebuild", recording)
    traces = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 1
    assert sum(trace["metrics"]["tool_call_count"] for trace in traces) == 2
    assert f"problem: {recording}" in result.stderr


def test_one_missing_source_of_two_is_a_problem(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", recording, "nowhere.jsonl")
    assert result.exit_code == 1
    assert len(result.stdout.splitlines()) == 1
    assert "nowhere.jsonl" in result.stderr


@pytest.mark.parametrize("command", ["rebuild", "show", "export", "validate"])
def test_a_missing_path_exits_with_3_and_is_named(invoke: Invoke, command: str) -> None:
    result = invoke(command, "nowhere.jsonl")
    assert result.exit_code == 3
    assert "nowhere.jsonl does not exist" in result.stdout + result.stderr


def test_without_a_recording_the_next_step_is_suggested(invoke: Invoke) -> None:
    result = invoke("show")
    assert result.exit_code == 3
    assert "agentool-otel run -- python app.py" in result.stderr


def test_standard_input_is_a_source(recorded: bytes) -> None:
    result = agentool("rebuild", "-", input=recorded.decode())
    assert json.loads(result.stdout)["agent_id"] == "adder"


def test_a_closed_pipe_is_not_an_error(recording: Path, recorded: bytes) -> None:
    recording.write_bytes(_copies(recorded, 3000))
    command = f"{sys.executable} -m agentool_otel show {recording} | head -1"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == ""


def _copies(recorded: bytes, n: int) -> bytes:
    """The recording n times, each with a trace id of its own."""
    first = recorded.splitlines()[0]
    trace_id = json.loads(first)["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"]
    return b"".join(recorded.replace(trace_id.encode(), b"%032x" % (i + 1)) for i in range(n))


def test_show_gives_every_step_of_a_single_run(invoke: Invoke, recording: Path) -> None:
    result = invoke("show", recording)
    assert result.exit_code == 0
    assert "adder  ✓ success" in result.stdout
    assert "add(a=1, b=2)" in result.stdout
    assert "✗ ERROR add" in result.stdout
    assert "\x1b" not in result.stdout


def test_show_lists_several_runs_and_accepts_a_number_or_an_id_prefix(
    invoke: Invoke, recording: Path, recorded: bytes
) -> None:
    recording.write_bytes(_copies(recorded, 3))
    header, *rows = invoke("show", recording).stdout.splitlines()
    columns = "# trace started agent status steps tools tokens duration input"
    assert " ".join(header.split()) == columns
    assert len(rows) == 3
    by_number = invoke("show", recording, 2).stdout
    assert by_number == invoke("show", recording, _ids(invoke, recording)[1]).stdout
    several = invoke("show", recording, "0000000")
    assert several.exit_code == 2
    assert "several traces begin with" in several.stderr
    assert invoke("show", recording, "feed").exit_code == 2


def _ids(invoke: Invoke, recording: Path) -> list[str]:
    lines = invoke("show", recording, "--json").stdout.splitlines()
    return [json.loads(line)["trace_id"] for line in lines]


def test_show_reads_trace_documents_too(invoke: Invoke, recording: Path) -> None:
    invoke("rebuild", recording, "-o", "traces.jsonl")
    assert invoke("show", "traces.jsonl").stdout == invoke("show", recording).stdout
    refused = invoke("show", "traces.jsonl", "--spans")
    assert refused.exit_code == 2
    assert "agentool-otel export traces.jsonl" in refused.stderr


def test_show_spans_is_a_tree(invoke: Invoke, recording: Path) -> None:
    lines = invoke("show", recording, "--spans").stdout.splitlines()
    assert [line.split("  ")[0] for line in lines[1:2]] == ["└── invoke_agent adder"]
    assert "├── execute_tool add" in lines[2]
    assert "✗ ValueError: nothing to add" in lines[2]
    assert "└── execute_tool add" in lines[3]


def test_show_spans_of_one_run_leaves_the_others_out(
    invoke: Invoke, recording: Path, recorded: bytes
) -> None:
    recording.write_bytes(_copies(recorded, 3))
    stdout = invoke("show", recording, "--spans").stdout
    one = invoke("show", recording, 2, "--spans").stdout
    assert stdout.count("invoke_agent adder") == 3
    assert one.count("invoke_agent adder") == 1
    assert one.count("execute_tool add") == 2


def test_show_explain_names_the_span_a_field_came_from(invoke: Invoke, recording: Path) -> None:
    shown = invoke("show", recording, "--explain").stdout
    (span_id,) = re.findall(r"agent_id +kept +span ([0-9a-f]{8})", shown)
    assert f"invoke_agent adder ({span_id})" in shown


def test_show_explain_lists_the_reading_of_spans(invoke: Invoke, recording: Path) -> None:
    shown = invoke("show", recording, "--explain").stdout
    assert re.search(r"how the spans were read\n    3 spans as gen_ai, \d+% sure: \w", shown)


def test_cost_is_computed_when_asked_for_and_shown_as_such(invoke: Invoke) -> None:
    pytest.importorskip("genai_prices")
    texts = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.provider.name": {"stringValue": "openai"},
        "gen_ai.request.model": {"stringValue": "gpt-4o"},
        "gen_ai.usage.input_tokens": {"intValue": "1000000"},
        "gen_ai.usage.output_tokens": {"intValue": "100000"},
    }
    span = {
        "traceId": "1" * 32,
        "spanId": "2" * 16,
        "name": "chat gpt-4o",
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000001000000000",
        "attributes": [{"key": key, "value": value} for key, value in texts.items()],
    }
    line = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
    Path("bare.jsonl").write_text(json.dumps(line))
    assert "cost not known" in invoke("show", "bare.jsonl").stdout
    assert "$3.5000 (computed)" in invoke("show", "bare.jsonl", "--cost").stdout
    trace = json.loads(invoke("rebuild", "bare.jsonl", "--cost").stdout)
    assert trace["metrics"]["total_cost_usd"] == 3.5


def test_show_full_cuts_nothing(invoke: Invoke, recording: Path) -> None:
    trace = json.loads(invoke("rebuild", recording).stdout)
    trace["output"] = "word " * 399 + "word"
    Path("long.json").write_text(json.dumps(trace))
    assert "…" in invoke("show", "long.json").stdout
    assert trace["output"] in invoke("show", "long.json", "--full").stdout


def show_failed(invoke: Invoke, error: object, *options: str, status: str = "error") -> str:
    metadata = {"error": error}
    document = {"trace_id": "t", "status": status, "steps": [], "metadata": metadata}
    Path("failed.json").write_text(json.dumps(document))
    return invoke("show", "failed.json", *options).stdout


def test_show_prints_first_line_of_error_or_all_with_full(invoke: Invoke) -> None:
    error = {"type": "ValueError", "message": "because\nof\x1b X", "span_id": "0123456789abcdef"}
    shown = show_failed(invoke, error)
    assert "  error    ValueError: because of\\x1b X (span 01234567)\n" in shown
    assert "  error    ValueError: because\n" in show_failed(invoke, error, "--full")


@pytest.mark.parametrize(
    ("error", "line"),
    [
        ({"type": "KeyboardInterrupt"}, "KeyboardInterrupt"),
        ({"code": 17}, '{"code":17}'),
        ("E-17", "E-17"),
    ],
)
def test_show_prints_the_error_of_a_run(invoke: Invoke, error: object, line: str) -> None:
    assert f"  error    {line}\n" in show_failed(invoke, error)


@pytest.mark.parametrize(("error", "status"), [({}, "error"), ("E-17", "success")])
def test_show_has_no_error_if_nothing_ended_the_run(
    invoke: Invoke, error: object, status: str
) -> None:
    assert "  error  " not in show_failed(invoke, error, status=status)


def test_show_explain_prints_the_origin_of_an_error(invoke: Invoke) -> None:
    agent = "@agentool_otel.agent\ndef bad(q): raise ValueError('because of X')\nbad('?')"
    program = f"import agentool_otel\nagentool_otel.instrument()\n{agent}"
    subprocess.run([sys.executable, "-c", program], capture_output=True, check=False, timeout=60)
    assert "ValueError: because of X (span" in invoke("show").stdout
    shown = invoke("show", "--explain").stdout
    assert re.search(r"metadata\.error\.message +kept +span \w{8} +status\.message", shown)


def test_recorded_control_characters_do_not_reach_the_terminal(
    invoke: Invoke, recording: Path
) -> None:
    trace = json.loads(invoke("rebuild", recording).stdout)
    trace["output"] = "\x1b]0;owned\x07[bold]plain[/bold]"
    Path("evil.json").write_text(json.dumps(trace))
    for option in ("--full", "--json"):
        assert "\x1b" not in invoke("show", "evil.json", option).stdout
    assert "[bold]plain[/bold]" in invoke("show", "evil.json").stdout


def test_help_imports_no_sdk() -> None:
    code = (
        "import sys\nfrom agentool_otel.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "print([m for m in sys.modules if m.startswith(('opentelemetry', 'rich', 'msgspec'))])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_a_traceback_is_shown_only_when_asked_for() -> None:
    assert "Traceback" not in agentool("show", "nowhere").stderr
    assert "Traceback" in agentool("show", "nowhere", "--debug").stderr


def test_documents_beside_spans_are_traces_too(invoke: Invoke, recording: Path) -> None:
    document = {"trace_id": "t1", "steps": [{"type": "reasoning", "content": "hm"}]}
    trajectory = {"schema_version": "ATIF-v1.6", "session_id": "s1", "steps": []}
    Path("t.json").write_text(json.dumps(document, indent=2))
    Path("parent.json").write_text(json.dumps({"parent": trajectory}))
    result = invoke("rebuild", "t.json", "parent.json", recording)
    loads = [json.loads(line) for line in result.stdout.splitlines()]
    assert [trace["trace_id"] for trace in loads[:2]] == ["t1", "s1"]
    assert (loads[0], len(loads), result.exit_code) == (document, 3, 0)
    assert "s1" in invoke("show", "parent.json").stdout
