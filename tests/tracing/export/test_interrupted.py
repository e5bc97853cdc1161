"""An exception of a signal handler that falls into our code reaches the program, and harms nothing.

Tried at every place of a call where Python may run a handler.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.cli.recover import recover
from agentool_otel.ground.interruptions import ignoring, insist, is_interruption
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.tracing.export import interrupted
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.export.test_exits import received

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs SIGALRM")

KINDS = ["tool", *(pytest.param(kind, marks=pytest.mark.thorough) for kind in ("agent", "openai"))]


def run(folder: Path, kind: str, endpoint: str = "-", times: str = "once") -> dict[str, Any]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    done = subprocess.run(
        [sys.executable, "-m", interrupted.__name__, endpoint, kind, times],
        cwd=folder,
        env={**clean, "PYTHONPATH": os.pathsep.join(sys.path), "OTEL_METRICS_EXPORTER": "none"},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@pytest.mark.parametrize("times", ["once", "twice"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_call_reaches_the_program_and_is_recorded_once(
    tmp_path: Path, kind: str, times: str
) -> None:
    if kind == "openai":
        pytest.importorskip("openai")
    result = run(tmp_path, kind, times=times)
    assert result.pop("places") > 100
    (last,), noted = result.pop("returned"), set(result.pop("noted"))
    assert result == {"swallowed": [], "left": [], "broken": []}
    recover(tmp_path / ".agentool")
    marks: dict[str, list[str]] = defaultdict(list)
    for span in open_source(tmp_path / ".agentool").spans():
        marks[span.span_id].append(str(dict(span.attributes)))
    assert {len(spans) for spans in marks.values()} == {1}
    assert noted <= marks.keys()
    (complete,) = (text for (text,) in marks.values() if f"#{last}#" in text)
    assert agentool.INCOMPLETE not in complete
    assert "error.type" not in complete


@pytest.mark.parametrize("times", ["once", "twice"])
@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_call_leaves_a_whole_spool(tmp_path: Path, kind: str, times: str) -> None:
    if kind == "openai":
        pytest.importorskip("openai")
    result = run(tmp_path, kind, "http://127.0.0.1:9", times)
    assert (result["swallowed"], result["left"], result["broken"]) == ([], [], [])
    with HttpReceiver() as receiver:
        done = recover(tmp_path / ".agentool", OtlpTarget.at(receiver.endpoint, {}))
        assert done == (True, False)
        arrived = list(received(receiver))
    assert result["places"] > 100
    told = {span_id.hex() for span_id, _ in arrived}
    assert len(told) == len(arrived)
    assert set(result["noted"]) <= told


class Late(OSError):
    pass


@pytest.fixture
def alarm() -> Iterator[None]:
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


def raise_late(number: int, frame: Any) -> None:
    raise Late


def raise_without_arguments(*arguments: Any) -> None:
    del arguments
    raise Late


def raise_elsewhere(more: str, number: int, frame: Any) -> None:
    frame = frame.f_back
    raise Late


def around(handler: Any) -> Any:
    def wrapper(*arguments: Any) -> None:
        handler(*arguments)

    return wrapper


class Hidden(Late):
    @property
    def __traceback__(self) -> None:  # type: ignore[override]
        return None


def raise_hidden(number: int, frame: Any) -> None:
    raise Hidden


class Handler:
    def __call__(self, number: int, frame: Any) -> None:
        del frame
        raise Late

    def method(self, number: int, frame: Any) -> None:
        self(number, None)


HANDLERS = {
    "function": raise_late,
    "no arguments": raise_without_arguments,
    "object": Handler(),
    "method": Handler().method,
    "lambda": lambda *_: 1 / 0,
    "partial": functools.partial(raise_elsewhere, "x"),
    "wrapped": around(raise_late),
    "hidden traceback": raise_hidden,
}


@pytest.mark.parametrize("name", HANDLERS)
def test_what_a_handler_raises_is_known(alarm: None, name: str) -> None:
    signal.signal(signal.SIGUSR1, HANDLERS[name])
    with pytest.raises((Late, ZeroDivisionError)) as caught:
        os.kill(os.getpid(), signal.SIGUSR1)
    assert is_interruption(caught.value)


def test_what_other_code_raises_is_no_interruption() -> None:
    def same_parameters(number: int, frame: Any) -> None:
        raise Late

    with pytest.raises(Late) as caught:
        same_parameters(signal.SIGUSR1, None)
    assert not is_interruption(caught.value)
    with ignoring(OSError):
        same_parameters(signal.SIGUSR1, None)


def test_errors_of_a_handler_are_not_ignored(alarm: None) -> None:
    signal.signal(signal.SIGUSR1, raise_late)
    with pytest.raises(Late), ignoring(OSError):
        os.kill(os.getpid(), signal.SIGUSR1)


def test_what_is_no_error_is_for_the_program() -> None:
    assert is_interruption(KeyboardInterrupt())
    assert not is_interruption(None)


@pytest.mark.parametrize("interruptions", [0, 1, 5])
def test_what_is_put_away_is_so_before_an_interruption_goes_on(interruptions: int) -> None:
    left, done = [KeyboardInterrupt(str(n)) for n in range(interruptions)], list[str]()

    def put_away() -> None:
        if left:
            raise left.pop()
        done.append("put away")

    if interruptions:
        with pytest.raises(KeyboardInterrupt, match="0"):
            insist(put_away)
    else:
        insist(put_away)
    assert done == ["put away"]


def test_an_error_of_ours_is_not_tried_again() -> None:
    tried: list[int] = []

    def fails() -> None:
        tried.append(1)
        raise OSError("no room")

    insist(fails)
    assert tried == [1]


def test_no_code_of_the_class_of_a_handler_runs() -> None:
    class Handler:
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(f"asked for {name}")

        def __call__(self, *_: object) -> None: ...

    with pytest.raises(ValueError, match="ours") as raised:
        raise ValueError("ours")
    before = signal.signal(signal.SIGALRM, Handler())
    try:
        assert not is_interruption(raised.value)
    finally:
        signal.signal(signal.SIGALRM, before)
