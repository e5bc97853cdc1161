"""Beside other tracing packages: each records each call once, and nobody is in the way.

They run in environments of their own (`python -m tests.frameworks beside-newest beside-oldest`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agentool_otel.loading import load
from tests.guest.tracers import TRACERS, Answer, installed, program

pytest.importorskip("openai")

OURS = "import agentool_otel\nagentool_otel.instrument()"
SWITCHED = [name for name, tracer in sorted(TRACERS.items()) if tracer.off]
_LIFE = """
unset = isinstance(provider, trace.ProxyTracerProvider)
said = {"provider kept": unset or trace.get_tracer_provider() is provider}
said["answers"] = ask()
said["around"] = foreign_wrappers(*TARGET)
said["others"] = agentool_otel.status()["instrumentors"]["openai"]["others"]
outermost = vars(Completions)["create"]
agentool_otel.uninstrument()
said["around after"] = foreign_wrappers(*TARGET)
said["outermost stays"] = vars(Completions)["create"] is outermost
said["answers after"] = ask()
"""
_LOOK = """
from openai.resources.chat.completions import Completions
from opentelemetry import trace
from agentool_otel.tracing.instrumentation.wrapper_chain import foreign_wrappers
TARGET = ("openai.resources.chat.completions", "Completions.create")
"""


def need(name: str) -> None:
    if not installed(name):
        pytest.skip(f"{name} is not installed")


@cache
def alone(name: str) -> Answer:
    """The other one without us."""
    with TemporaryDirectory() as folder:
        tracer = TRACERS[name]
        return program(Path(folder), f"{tracer.on}\nsaid = ask()\n{tracer.flush}")


@cache
def together(name: str, ours_first: bool) -> Answer:
    """Both on, two calls; ours off, two more."""
    tracer = TRACERS[name]
    order = [OURS, tracer.on] if ours_first else [tracer.on, OURS]
    order.insert(1, "provider = trace.get_tracer_provider()")
    with TemporaryDirectory() as folder:
        return program(Path(folder), "\n".join([_LOOK, *order, _LIFE, tracer.flush]))


@pytest.fixture(params=sorted(TRACERS))
def name(request: pytest.FixtureRequest) -> str:
    need(request.param)
    return str(request.param)


@pytest.fixture(params=[True, False], ids=["ours first", "theirs first"])
def ours_first(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_the_user_gets_the_same_answers(name: str, ours_first: bool) -> None:
    text = together(name, ours_first).said
    assert text["answers"] == text["answers after"] == alone(name).said


def test_no_foreign_span_is_lost_or_duplicated(name: str, ours_first: bool) -> None:
    expected = alone(name).theirs()
    assert expected
    assert together(name, ours_first).theirs() == sorted(expected * 2)


def test_ours_are_recorded_once_until_uninstrument(name: str, ours_first: bool) -> None:
    """In our recording, or where the provider that we have joined sends them."""
    result = together(name, ours_first)
    assert len(result.recorded) == 2 or (not ours_first and len(result.ours()) in (0, 2))


def test_their_provider_is_not_replaced(name: str) -> None:
    assert together(name, ours_first=False).said["provider kept"] is True


def test_uninstrument_leaves_the_wrappers_of_others(name: str, ours_first: bool) -> None:
    text = together(name, ours_first).said
    assert text["around"] == text["around after"]
    somebody_stands_on_ours = ours_first and bool(text["around"])
    assert text["outermost stays"] is somebody_stands_on_ours


def test_status_names_who_else_wraps_a_call(name: str, ours_first: bool) -> None:
    others = together(name, ours_first).said["others"]
    modules = [module for each in others.values() for module in each]
    assert any(module.startswith(TRACERS[name].module.partition(".")[0]) for module in modules)


def test_doctor_names_the_other_instrumentors_of_a_framework() -> None:
    need("openinference")
    need("openllmetry")
    doctor = [sys.executable, "-m", "agentool_otel", "doctor", "--json"]
    with TemporaryDirectory() as folder:
        done = subprocess.run(doctor, check=True, capture_output=True, cwd=folder)
    [openai] = [each for each in json.loads(done.stdout)["frameworks"] if each["name"] == "openai"]
    assert {each["name"] for each in openai["instrumented_by"]} >= {
        "openinference-instrumentation-openai",
        "opentelemetry-instrumentation-openai",
    }


def test_a_healthy_run_prints_nothing_of_ours(name: str, ours_first: bool) -> None:
    lines = together(name, ours_first).stderr.splitlines()
    expected = ("content is no longer captured", "the application's own tracer provider")
    ours = [line for line in lines if "agentool" in line]
    assert [line for line in ours if not any(item in line for item in expected)] == []


@pytest.mark.parametrize("name", SWITCHED)
def test_a_wrapper_that_others_removed_comes_back_with_instrument(
    tmp_path: Path, name: str
) -> None:
    """OpenTelemetry's `unwrap` takes away the outermost wrapper, whoever's it is."""
    need(name)
    tracer = TRACERS[name]
    code = f"{tracer.on}\n{OURS}\n{tracer.off}\nagentool_otel.instrument()\nsaid = ask()"
    assert len(program(tmp_path, code).recorded) == 2


@pytest.mark.parametrize("name", SWITCHED)
def test_another_tracer_that_is_removed_leaves_our_wrappers(tmp_path: Path, name: str) -> None:
    need(name)
    tracer = TRACERS[name]
    code = f"{OURS}\n{tracer.on}\nask()\n{tracer.off}\nsaid = ask()"
    assert len(program(tmp_path, code).recorded) == 4


@pytest.mark.parametrize("name", SWITCHED)
def test_a_call_in_one_recording_twice_counts_once(tmp_path: Path, name: str) -> None:
    """Theirs go to the global provider, which is ours: both spans are in the recording."""
    need(name)
    tokens: list[object] = []
    ours = f"{OURS}\nwith agentool_otel.run('clerk'): said = ask()"
    both = ours.replace("with", f"from {TRACERS[name].module} import OpenAIInstrumentor as Their\n"
                        "Their().instrument()\nwith")  # fmt: skip
    for number, code in enumerate((ours, both)):
        folder = tmp_path / str(number)
        folder.mkdir()
        program(folder, code)
        [trace] = load(folder / ".agentool")
        tokens.append(trace.to_dict()["metrics"]["total_tokens"])
    assert tokens[0] == tokens[1]
