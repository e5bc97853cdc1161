"""`run`: its options apply in a program that calls `instrument()` itself."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import AGENT, Started, agentool
from tests.tracing.export.receiver import HttpReceiver, spans_in

ASKED = b"1 and 2?"

INSTRUMENTED = AGENT.replace(
    'if __name__ == "__main__":', 'agentool_otel.instrument(NAMED)\nif __name__ == "__main__":'
)
"""Instruments wherever it is imported or run, with whatever stands for NAMED."""

FORKED = f"""{INSTRUMENTED}
import os
child = os.fork()
if not child:
    agentool_otel.instrument(); adder("1 and 2?"); os._exit(0)
os.waitpid(child, 0)
"""
SPAWNED = f"""{INSTRUMENTED}
    import multiprocessing
    child = multiprocessing.get_context("spawn").Process(target=adder, args=("1 and 2?",))
    child.start(); child.join()
"""
STARTED = f"""{INSTRUMENTED}
    import subprocess, sys
    subprocess.run([sys.executable, "-c", "import app; app.adder('1 and 2?')"], check=True)
"""


def run(code: str, *options: str) -> Started:
    Path("app.py").write_text(code)
    done = agentool("run", *options, "--", sys.executable, "app.py")
    assert done.returncode == 0, done.stderr
    return done


def services(receiver: HttpReceiver) -> set[bytes]:
    """Return the service names of these tests that have arrived."""
    sent = b"".join(receiver.bodies["/v1/traces"])
    return {name for name in (b"operator", b"program") if name in sent}


def contents(receiver: HttpReceiver) -> int:
    """Return how many agents have arrived with their input."""
    spans = [span for body in receiver.bodies["/v1/traces"] for span in spans_in(body)]
    agents = [span for span in spans if span.name == "invoke_agent adder"]
    return sum(ASKED in span.SerializeToString() for span in agents)


@pytest.mark.parametrize("named", ["", "service_name='program'", "redact=lambda name, text: text"])
def test_options_apply_unless_the_program_overrides_them(named: str) -> None:
    with HttpReceiver() as receiver:
        done = run(
            INSTRUMENTED.replace("NAMED", named), "--content", "--endpoint", receiver.endpoint
        )
        assert contents(receiver) == 1
    assert "3 spans sent to" in done.stderr
    assert "--content" not in done.stderr
    assert "replaces" not in done.stderr
    assert not Path(".agentool").exists()


def test_the_last_lines_name_what_sends_messages() -> None:
    with HttpReceiver() as receiver:
        done = run(INSTRUMENTED.replace("NAMED", ""), "--endpoint", receiver.endpoint)
        assert contents(receiver) == 0
    assert "; without messages, which --content sends\n" in done.stderr


def test_the_service_name_of_the_command_line_stays_too() -> None:
    with HttpReceiver() as receiver:
        code = INSTRUMENTED.replace("NAMED", "content=True")
        run(code, "--service-name", "operator", "--endpoint", receiver.endpoint)
        assert services(receiver) == {b"operator"}


def test_content_is_not_recorded_unless_the_program_enables_it() -> None:
    run(INSTRUMENTED.replace("NAMED", "service_name='program'"), "--no-content")
    assert ASKED not in b"".join(file.read_bytes() for file in Path(".agentool").iterdir())


@pytest.mark.parametrize("code", [FORKED, SPAWNED, STARTED], ids=["fork", "spawn", "subprocess"])
def test_options_apply_in_other_processes_of_the_program(code: str) -> None:
    if code is FORKED and not hasattr(os, "fork"):
        pytest.skip("needs fork")
    with HttpReceiver() as receiver:
        named = code.replace("NAMED", "service_name='program'")
        run(named, "--content", "--endpoint", receiver.endpoint)
        assert contents(receiver) == 2
        assert services(receiver) == {b"program"}


def test_an_option_replaced_by_the_program_is_reported_once() -> None:
    with HttpReceiver() as first, HttpReceiver() as second:
        code = INSTRUMENTED.replace("NAMED", f"{second.endpoint!r}").replace(
            "\nif __name__", f"\nagentool_otel.instrument({second.endpoint!r})\nif __name__"
        )
        done = run(code, "--content", "--endpoint", first.endpoint)
        assert first.paths == []
        assert contents(second) == 1
    lines = [line for line in done.stderr.splitlines() if "the agentool-otel run option" in line]
    assert lines == [
        "the program replaces the agentool-otel run option --endpoint: its own "
        "instrument(endpoint=...) applies from here on"
    ]


def test_naming_the_same_options_again_is_not_reported() -> None:
    with HttpReceiver() as receiver:
        code = INSTRUMENTED.replace("NAMED", f"{receiver.endpoint!r}, 'operator', False")
        messages = ("--no-content", "--service-name", "operator", "--endpoint", receiver.endpoint)
        done = run(code, *messages)
        assert contents(receiver) == 0
    assert "replaces" not in done.stderr


def test_options_outlive_uninstrument() -> None:
    with HttpReceiver() as receiver:
        code = AGENT.replace(
            'if __name__ == "__main__":',
            "agentool_otel.instrument('http://127.0.0.1:9', content=False)\n"
            "agentool_otel.uninstrument(); agentool_otel.instrument()\n"
            'if __name__ == "__main__":',
        )
        run(code, "--content", "--endpoint", receiver.endpoint)
        assert contents(receiver) == 1


def test_a_service_name_that_cannot_be_applied_is_reported() -> None:
    code = (
        "from opentelemetry import trace\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "trace.set_tracer_provider(TracerProvider())\n"
    )
    done = run(code, "--content", "--service-name", "operator")
    assert "service_name='operator' is not used" in done.stderr


def test_options_still_apply_if_the_first_instrumentation_failed() -> None:
    code = INSTRUMENTED.replace(
        "import agentool_otel",
        "import os; del os.environ['OTEL_TRACES_EXPORTER']\nimport agentool_otel",
        1,
    ).replace("NAMED", "")
    Path("app.py").write_text(code)
    environ = {**os.environ, "OTEL_TRACES_EXPORTER": "pigeon"}
    agentool("run", "--no-content", "--", sys.executable, "app.py", env=environ)
    [file] = Path(".agentool").glob("*.jsonl")
    assert ASKED not in file.read_bytes()


def test_instrument_can_be_imported_and_pickled_under_run() -> None:
    code = "import agentool_otel as it, pickle; assert pickle.loads(pickle.dumps(it.instrument))"
    assert "Error" not in run(code).stderr
