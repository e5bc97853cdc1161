"""A program that ends by an uncaught exception: its last calls outside any run have failed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel import ReasoningTrace, rebuild
from agentool_otel.reading.rebuild.endings import ending_of
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_source

PROGRAM = """
import sys
import agentool_otel
from agentool_otel import agent, tool

{before}
agentool_otel.instrument()

@tool
def weather(city):
    if city == "Atlantis":
        raise KeyError(city)
    return "sunny"

@agent
def guide(city):
    return weather(city)

{program}
"""
HOOK = """
def hook(kind, error, traceback):
    print("hook", kind.__name__)
    {rest}
sys.excepthook = hook
"""


def ended(
    folder: Path, program: str, before: str = "", *options: str
) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    (folder / "app.py").write_text(PROGRAM.format(before=before, program=program))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    return subprocess.run(
        [sys.executable, *(options or ["app.py"])],
        cwd=folder,
        env={**clean, "AGENTOOL_OTEL_STRICT": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def runs(folder: Path) -> list[Rebuilt]:
    return list(rebuild(open_source(folder / ".agentool").spans()))


def traces(folder: Path) -> list[ReasoningTrace]:
    rebuilt = [run.trace for run in runs(folder)]
    return sorted(rebuilt, key=lambda item: str(item.started_at))


def endings(folder: Path) -> list[str | None]:
    return [ending_of(trace) for trace in traces(folder)]


def error_of(trace: ReasoningTrace) -> dict[str, str]:
    assert isinstance(trace.metadata, dict)
    error: dict[str, str] = trace.metadata["error"]
    return error


@pytest.mark.parametrize("options", [["app.py"], ["-m", "app"]])
def test_the_last_run_has_failed_with_the_exception(tmp_path: Path, options: list[str]) -> None:
    program = "weather('Paris')\nweather('Rome')\nraise ValueError('no umbrella')"
    done = ended(tmp_path, program, "", *options)
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: no umbrella\n")
    assert endings(tmp_path) == ["success", "error"]
    error = error_of(traces(tmp_path)[-1])
    assert (error["type"], error["message"]) == ("ValueError", "no umbrella")


def test_the_failure_arose_in_the_tool_that_raised(tmp_path: Path) -> None:
    ended(tmp_path, "weather('Atlantis')")
    [trace] = traces(tmp_path)
    tool_span = runs(tmp_path)[0].anchor
    assert tool_span is not None
    assert error_of(trace) == {
        "type": "KeyError",
        "message": "'Atlantis'",
        "span_id": tool_span.span_id,
    }


def test_an_interrupted_program_leaves_an_interrupted_run(tmp_path: Path) -> None:
    ended(tmp_path, "weather('Paris')\nraise KeyboardInterrupt")
    assert endings(tmp_path) == ["interrupted"]


@pytest.mark.parametrize(
    "program",
    [
        "weather('Paris'); sys.exit(3)",
        "weather('Paris'); raise SystemExit('no')",
        "weather('Paris'); guide('Rome'); raise ValueError",
        "raise ValueError",
    ],
)
def test_other_ends_are_no_failure(tmp_path: Path, program: str) -> None:
    assert ended(tmp_path, program).returncode
    ways = endings(tmp_path) if (tmp_path / ".agentool").exists() else []
    assert set(ways) <= {"success"}


@pytest.mark.parametrize(
    "program",
    [
        "import code\ncode.InteractiveInterpreter().runsource('1/0')",
        "import threading\nit = threading.Thread(target=lambda: 1 / 0)\nit.start()\nit.join()",
        "try:\n    1 / 0\nexcept ZeroDivisionError:\n    sys.excepthook(*sys.exc_info())",
        "def fail():\n    1 / 0\ntry:\n    fail()\nexcept ZeroDivisionError as error:\n"
        "    sys.last_value, sys.last_traceback = error, error.__traceback__.tb_next",
    ],
    ids=["prompt", "thread", "reported", "kept"],
)
def test_an_exception_that_the_program_survives_is_no_failure(tmp_path: Path, program: str) -> None:
    done = ended(tmp_path, f"weather('Paris')\n{program}")
    assert done.returncode == 0
    assert endings(tmp_path) == ["success"]


@pytest.mark.parametrize(
    "remainder", ["pass", "1 / 0", "sys.__excepthook__(kind, error, traceback)"]
)
@pytest.mark.parametrize("late", [False, True])
def test_a_hook_of_the_user_is_called_once(tmp_path: Path, remainder: str, late: bool) -> None:
    hook = HOOK.format(rest=remainder)
    program = "weather('Paris')\nraise ValueError('no umbrella')"
    done = ended(tmp_path, f"{hook}\n{program}" if late else program, "" if late else hook)
    assert done.stdout == "hook ValueError\n"
    assert endings(tmp_path) == ["error"]


def test_the_message_is_masked(tmp_path: Path) -> None:
    key = "sk-proj-" + "a1B2c3D4e5" * 4
    ended(tmp_path, f"weather('Paris')\nraise ValueError('bad key {key}')")
    [trace] = traces(tmp_path)
    assert "bad key" in error_of(trace)["message"]
    assert key not in "".join(path.read_text() for path in (tmp_path / ".agentool").glob("*.jsonl"))


def test_a_provider_that_the_program_sets_later_has_it_too(tmp_path: Path) -> None:
    provider = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
"""
    ended(tmp_path, f"{provider}\nweather('Paris')\nraise ValueError('no umbrella')")
    assert endings(tmp_path) == ["error"]


def test_nothing_is_recorded_after_uninstrument(tmp_path: Path) -> None:
    ended(tmp_path, "weather('Paris')\nagentool_otel.uninstrument()\nraise ValueError")
    assert endings(tmp_path) == ["success"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_does_not_fail_the_run_of_its_parent(tmp_path: Path) -> None:
    program = "import os\nweather('Paris')\nif os.fork() == 0:\n    raise ValueError\nos.wait()"
    ended(tmp_path, program)
    assert endings(tmp_path) == ["success"]
