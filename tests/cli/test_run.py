"""`run`: the child is the program it would have been, and is recorded."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import agentool_otel
from agentool_otel.cli.run import _name_of
from tests.cli.conftest import AGENT, agentool


def test_a_decorated_script_is_recorded_and_keeps_its_own_streams(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    result = agentool("run", "--", sys.executable, "app.py")
    assert (result.returncode, result.stdout) == (0, "3\n")
    assert "3 spans, 1 run recorded in .agentool" in result.stderr
    assert result.stderr.splitlines()[-1].endswith("agentool_otel show --last 1")
    agentool("run", "-q", "--", sys.executable, "-c", AGENT.replace("adder", "another"))
    assert "another" in agentool("show", "--last", "1").stdout


@pytest.mark.parametrize("command", [["app.py"], [sys.executable, "-m", "app"]])
def test_a_plain_script_path_and_a_module_work_too(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    assert "3 spans, 1 run" in agentool("run", *command).stderr


@pytest.mark.thorough
def test_a_console_script_works_too(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    (tmp_path / "test_app.py").write_text(
        "from app import adder\n\ndef test_it():\n    assert adder('?') == '3'\n"
    )
    pytest_script = Path(sys.executable).parent / "pytest"
    result = agentool("run", "--", pytest_script, "-q", "-p", "no:cacheprovider", "test_app.py")
    assert result.returncode == 0
    assert "3 spans, 1 run" in result.stderr


def test_standard_input_reaches_the_program() -> None:
    result = agentool("run", sys.executable, "-c", "print(input() * 2)", input="ab\n")
    assert result.stdout == "abab\n"


@pytest.mark.parametrize("code", [0, 3, 255])
def test_the_exit_code_is_passed_on(code: int) -> None:
    assert agentool("run", sys.executable, "-c", f"raise SystemExit({code})").returncode == code


def test_a_program_killed_by_a_signal_exits_with_128_plus_its_number() -> None:
    program = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert agentool("run", sys.executable, "-c", program).returncode == 137


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_are_forwarded(number: int) -> None:
    program = (
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\ntime.sleep(30)"
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "agentool_otel", "run", "-q", sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        start_new_session=True,  # no terminal, whose keys would reach the child anyway
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(20) == 9


def test_processes_that_the_program_starts_are_recorded_too(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    starter = "import subprocess, sys; subprocess.run([sys.executable, 'app.py'])"
    assert "3 spans, 1 run" in agentool("run", sys.executable, "-c", starter).stderr
    alone = agentool("run", "--no-children", sys.executable, "-c", starter)
    assert "0 spans" in alone.stderr


WORKERS = """
import multiprocessing, agentool_otel
from opentelemetry import trace

@agentool_otel.tool
def lookup(city):
    return "sunny"

def answer(question):
    with trace.get_tracer("web").start_as_current_span("GET /"):
        asked = [{"role": "user", "content": question}]
        with agentool_otel.model_call("m", messages=asked, provider="openai") as call:
            asked.append({"role": "assistant", "content": None, "tool_calls": [
                {"id": question, "type": "function",
                 "function": {"name": "lookup", "arguments": '{"city": "Oslo"}'}}]})
            call.output(asked[-1])
        asked.append({"role": "tool", "tool_call_id": question, "content": lookup("Oslo")})
        with agentool_otel.model_call("m", messages=asked, provider="openai") as call:
            call.output("It is sunny.")

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(answer, [f"question {n}" for n in range(7)], 1)
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("content", ["--content", "--no-content"])
def test_runs_of_worker_processes_are_counted_and_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "service.py").write_text(WORKERS)
    result = agentool("run", content, "--", sys.executable, "service.py")
    assert result.returncode == 0, result.stderr
    assert " 7 runs recorded in " in result.stderr
    assert [item.agent_id for item in agentool_otel.load(".agentool")] == ["service"] * 7


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("python app.py", "app"),
        ("python3.12 -u -X dev app.py x", "app"),
        ("/usr/bin/python -m package.app", "package.app"),
        ("python -um app", "app"),
        ("python -c print()", None),
        ("python -Wonce -uc print()", None),
        ("python", None),
        ("uvicorn app:app --workers 2", "uvicorn"),
        ("./bin/serve.sh", "serve"),
        ("./app.py --port 1", "app"),
    ],
)
def test_a_program_goes_by_its_script_module_or_command(command: str, name: str | None) -> None:
    assert _name_of(command.split()) == name


def test_the_users_sitecustomize_runs_and_ours_is_hidden(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.mine = True")
    program = (
        "import json, sys, sitecustomize\n"
        "print(json.dumps([mine, sitecustomize.__file__, sys.path]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    shown = agentool("run", sys.executable, "-c", program, env=environment).stdout
    mine, file, path = json.loads(shown)
    assert mine
    assert file == str(tmp_path / "sitecustomize.py")
    assert not any("_bootstrap" in entry for entry in path)


def test_a_program_runs_even_if_it_cannot_be_instrumented(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "msgspec.py").write_text("raise ImportError")
    before_ours = (
        f'PYTHONPATH="$PYTHONPATH:{tmp_path}/broken" exec "$0" -c "import openai; print(1)"'
    )
    result = agentool("run", "sh", "-c", before_ours, sys.executable)
    assert (result.returncode, result.stdout) == (0, "1\n")
    assert "not recording: agentool_otel cannot be used by" in result.stderr


def test_an_invalid_variable_does_not_prevent_a_recording(
    tmp_path: Path,
) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    environment = {**os.environ, "OTEL_TRACES_EXPORTER": "pigeon"}
    result = agentool("run", "app.py", env=environment)
    assert (result.returncode, result.stdout) == (0, "3\n")
    assert "OTEL_TRACES_EXPORTER=pigeon is not supported: use otlp" in result.stderr
    assert "3 spans, 1 run" in result.stderr


@pytest.mark.parametrize("command", [["pytest"], ["python", "-m", "pytest"]])
def test_warnings_as_errors_stop_no_test_run(tmp_path: Path, command: list[str]) -> None:
    """pytest warns of plug-ins that are imported before it, as ours is here."""
    (tmp_path / "app.py").write_text(AGENT)
    (tmp_path / "test_app.py").write_text(
        "from app import adder\n\ndef test_it():\n    assert adder('?') == '3'\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings = error\n")
    program = Path(sys.executable).parent / command[0]
    result = agentool("run", "--", program, *command[1:], "-W", "error", "-p", "no:cacheprovider")
    assert (result.returncode, "1 passed" in result.stdout) == (0, True), result.stderr
    assert "3 spans, 1 run" in result.stderr


def test_another_import_finder_does_not_prevent_a_recording(tmp_path: Path) -> None:
    """pytest puts one there, and it finds this package as that of a plug-in."""
    (tmp_path / "app.py").write_text(
        "import importlib.machinery, sys\n"
        "sys.meta_path.insert(0, importlib.machinery.PathFinder)\n" + AGENT
    )
    result = agentool("run", "app.py")
    assert (result.returncode, result.stdout) == (0, "3\n")
    assert "3 spans, 1 run" in result.stderr


def test_warnings_as_errors_stop_no_program(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    result = agentool("run", "--", sys.executable, "-X", "dev", "-W", "error", "app.py")
    assert (result.returncode, result.stdout) == (0, "3\n")
    assert "3 spans, 1 run" in result.stderr
    assert "Error" not in result.stderr
    assert "Warning" not in result.stderr


@pytest.mark.parametrize("options", ["", "[]", "{}", '{"notes": 1}'])
def test_options_of_run_that_are_none_stop_no_program(tmp_path: Path, options: str) -> None:
    bootstrap = Path(agentool_otel.__file__).parent / "cli" / "_bootstrap"
    environment = {**os.environ, "PYTHONPATH": str(bootstrap), "AGENTOOL_OTEL_RUN": options}
    result = subprocess.run(
        [sys.executable, "-c", "print('ran')"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "ran\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_python_that_ignores_pythonpath_is_reported() -> None:
    result = agentool("run", sys.executable, "-I", "-c", "print('ran')")
    assert result.returncode == 0
    assert "no Python was started that reads PYTHONPATH" in result.stderr


def test_content_is_left_out_on_request(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    agentool("run", "--no-content", "app.py")
    assert "1 and 2?" not in agentool("rebuild").stdout


def test_no_command_is_a_usage_error_with_a_hint() -> None:
    result = agentool("run")
    assert result.returncode == 2
    assert "agentool_otel run -- python app.py" in result.stderr


def test_a_program_that_does_not_exist_exits_with_127() -> None:
    result = agentool("run", "no-such-program")
    assert result.returncode == 127
    assert "command not found: no-such-program" in result.stderr


def test_an_invalid_endpoint_is_refused_before_anything_runs() -> None:
    result = agentool("run", "--endpoint", "nonsense", sys.executable, "-c", "print('ran')")
    assert (result.returncode, result.stdout) == (2, "")
    assert "'nonsense' is not a URL" in result.stderr


def test_a_folder_that_cannot_be_written_is_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app.py").write_text(AGENT)
    (tmp_path / "file").touch()
    monkeypatch.setenv("AGENTOOL_DIR", "file/recordings")
    result = agentool("run", "app.py")
    assert (result.returncode, result.stdout) == (0, "3\n")
    assert f"3 spans could not be recorded in {tmp_path / 'file' / 'recordings'}" in result.stderr
    assert "AGENTOOL_DIR names the folder" in result.stderr
    assert "no agent, tool or model call was seen" not in result.stderr
