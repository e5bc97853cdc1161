"""`eval` with a judge: its options, its output about the judge, and its files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.cli.conftest import Invoke

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"
TRACE = json.loads((SPEC / "reasoning-trace.json").read_text())
POLITE = {"type": "output_property", "property": "is polite"}
YES = json.dumps({"reason": "it is", "step_ids": [], "score": 1.0, "passed": True})


@pytest.fixture(autouse=True)
def no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "AGENTOOL_DIR"):
        monkeypatch.delenv(name, raising=False)


def files(*assertions: dict[str, Any], traces: int = 1) -> tuple[str, str]:
    contents = [{**TRACE, "trace_id": f"tr_{n}"} for n in range(traces)]
    Path("cases.json").write_text(json.dumps(list(assertions)))
    Path("traces.jsonl").write_text("\n".join(map(json.dumps, contents)))
    return "cases.json", "traces.jsonl"


def test_a_model_judges_and_its_usage_is_reported(invoke: Invoke, model: LoopbackModel) -> None:
    model.push(Turn(text=YES, input_tokens=1200, output_tokens=30))
    judge = ("--judge-model", "small", "--judge-url", model.base_url)
    result = invoke("eval", *files(POLITE), *judge)
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["judge_model"] == "small"
    assert document["assertion_results"][0]["reason"] == "it is"
    assert "judging: 1 answer of small, 1,200 input and 30 output tokens" in result.stderr
    assert "kept in .agentool/judge" in result.stderr.replace("\\", "/")
    again = invoke("eval", *files(POLITE), *judge)
    assert "judging: 0 answers of small, 0 input and 0 output tokens; 1 answer known already" in (
        again.stderr
    )
    assert len(model.requests) == 1


def test_no_answer_is_kept_if_the_cache_is_off(invoke: Invoke, model: LoopbackModel) -> None:
    model.push(YES, YES)
    judge = ("--judge-model", "small", "--judge-url", model.base_url, "--no-judge-cache")
    for _ in range(2):
        assert "kept in" not in invoke("eval", *files(POLITE), *judge).stderr
    assert len(model.requests) == 2
    assert not Path(".agentool").exists()


def test_results_come_in_the_order_of_traces(invoke: Invoke, model: LoopbackModel) -> None:
    model.rule(lambda request: YES)
    judge = ("--judge-model", "small", "--judge-url", model.base_url, "--no-judge-cache")
    result = invoke("eval", *files(POLITE, {"type": "status"}, traces=80), *judge)
    ids = [json.loads(line)["trace_id"] for line in result.stdout.splitlines()]
    assert ids == [f"tr_{n}" for n in range(80)]


def test_a_judge_whose_key_is_refused_costs_nothing_else(
    invoke: Invoke, model: LoopbackModel
) -> None:
    model.rule(lambda request: Turn(status=401))
    judge = ("--judge-model", "small", "--judge-url", model.base_url)
    result = invoke("eval", *files(POLITE, {"type": "status"}, traces=5), *judge)
    assert result.exit_code == 1
    assertion_results = [
        json.loads(line)["assertion_results"] for line in result.stdout.splitlines()
    ]
    assert [[item["passed"] for item in of] for of in assertion_results] == [[None, True]] * 5
    assert "refuses the key (HTTP 401)" in assertion_results[4][0]["reason"]
    assert len(model.requests) == 1


def test_the_key_comes_from_the_named_variable(
    invoke: Invoke, model: LoopbackModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = ("--judge-model", "small", "--judge-url", model.base_url, "--judge-key-env", "MY_KEY")
    missing = invoke("eval", *files(POLITE), *judge)
    assert missing.exit_code == 2
    assert "the environment variable 'MY_KEY' is not set" in missing.stderr
    monkeypatch.setenv("MY_KEY", "sk-mine-123456")
    model.push(Turn(status=413, error="what is sk-mine-123456?"))
    result = invoke("eval", *files(POLITE), *judge)
    assert "what is [masked]?" in result.stdout
    assert "sk-mine" not in result.stdout + result.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--judge-url", "http://127.0.0.1:1"], "hint: add --judge-model MODEL"),
        (["--judge-model", "small"], "hint: set OPENAI_API_KEY"),
    ],
)
def test_a_judge_that_cannot_be_created_is_a_usage_error(
    invoke: Invoke, options: list[str], words: str
) -> None:
    result = invoke("eval", *files(POLITE), *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_without_a_judge_none_is_mentioned(invoke: Invoke) -> None:
    assert "judging" not in invoke("eval", *files(POLITE)).stderr


def test_limits_are_options_and_in_the_summary(invoke: Invoke, model: LoopbackModel) -> None:
    model.rule(lambda request: YES)
    judge = ("--judge-model", "small", "--judge-url", model.base_url, "--no-judge-cache")
    limits = ("--judge-timeout", "7.5", "--judge-concurrency", "2", "--judge-max-calls", "3")
    result = invoke("eval", *files(POLITE, traces=5), *judge, *limits)
    assert result.exit_code == 1
    passed = [json.loads(line)["passed"] for line in result.stdout.splitlines()]
    assert (passed.count(True), passed.count(None)) == (3, 2)
    assert len(model.requests) == 3
    assert (
        "no more questions are sent: the limit of 3 calls of the judge is reached" in result.stderr
    )
    state = "3 calls of at most 3, then given up; 2 at a time, 7.5 s each, at"
    assert f"{state} {model.base_url}" in result.stderr


@pytest.mark.parametrize(
    "option", ["--judge-timeout=0", "--judge-concurrency=0", "--judge-max-calls=0"]
)
def test_a_limit_out_of_range_is_a_usage_error(invoke: Invoke, option: str) -> None:
    result = invoke("eval", *files(POLITE), "--judge-model", "small", option)
    assert result.exit_code == 2
    assert option.partition("=")[0] in result.stderr


def test_a_judge_that_never_answers_is_named_in_the_summary(
    invoke: Invoke, model: LoopbackModel
) -> None:
    model.rule(lambda request: Turn(delay_s=60))
    judge = ("--judge-model", "small", "--judge-url", model.base_url, "--judge-timeout", "0.2")
    result = invoke("eval", *files(POLITE, traces=9), *judge)
    assert "1 call, 1 too late, then given up; 4 at a time, 0.2 s each" in result.stderr
    assert len(model.requests) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals")
def test_a_terminal_shows_which_judge_is_waited_for(model: LoopbackModel) -> None:
    import pty

    event = threading.Event()

    def answer(request: object) -> str:
        event.wait(60)
        return YES

    model.rule(answer)
    ours, theirs = pty.openpty()
    judge = ("--judge-model", "small", "--judge-url", model.base_url)
    command = [sys.executable, "-m", "agentool_otel", "eval", *files(POLITE), *judge]
    environment = {**os.environ, "COLUMNS": "200", "TERM": "xterm"}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        shown = b""
        expected = f"judge small at {model.base_url}: 0 answers, 1 call, 1 waiting".encode()
        while expected not in shown:
            shown += os.read(ours, 4096)
        event.set()
        while chunk := _read(ours):
            shown += chunk
        assert process.wait(60) == 0
    os.close(ours)


def _read(descriptor: int) -> bytes:
    """Read from a pseudo-terminal; empty once the program on its other side has ended."""
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""
