"""A patch point that is not as known is skipped and reported, whatever somebody has put there:
`instrument()` does not raise, nor does an import, and the other patches are in place."""

from __future__ import annotations

import json
import multiprocessing.pool
import sys
import threading
import types
from collections.abc import Iterator
from typing import Any

import pytest

import agentool_otel
from agentool_otel.cli import main
from agentool_otel.tracing.capture import threads
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch
from agentool_otel.tracing.setup.frameworks import attach
from tests.click_runner import CliRunner


class _Closed(type):
    def __setattr__(cls, name: str, value: object) -> None:
        raise TypeError(f"{name} of {cls.__name__} cannot be set")


class WithoutStart:
    """A class with a life of its own."""


class Sealed(metaclass=_Closed):
    def start(self) -> None: ...


class Slot:
    start = 7


ODD: dict[str, Any] = {
    "a class without it": WithoutStart,
    "a class that cannot be changed": Sealed,
    "no method": Slot,
    "no class": lambda: None,
    "nothing": None,
}


@pytest.fixture(autouse=True)
def switched_off() -> Iterator[None]:
    threads.stop_carrying()
    yield
    threads.stop_carrying()


def states() -> dict[str, str]:
    return {patch.target: patch.state for patch in threads.patches()}


@pytest.mark.parametrize("description", ODD)
def test_a_thread_class_that_is_not_as_known_is_left_alone(
    description: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "Thread", ODD[description])
    attach((), threads=True)
    assert states()["threading.Thread.start"] == "failed"
    assert states()["concurrent.futures.thread.ThreadPoolExecutor.submit"] == "attached"
    assert agentool_otel.status()["threads"][0]["state"] == "failed"


def test_a_missing_pool_method_is_reported_and_others_wrapped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Pool(multiprocessing.pool.Pool):
        """A replacement by somebody else."""

    monkeypatch.delattr(multiprocessing.pool.Pool, "starmap")
    monkeypatch.setattr(multiprocessing.pool, "Pool", Pool)
    threads.carry_into_threads()
    assert states()["multiprocessing.pool.Pool.starmap"] == "failed"
    assert states()["multiprocessing.pool.Pool.imap"] == "attached"


def test_a_subclass_in_the_place_of_a_class_carries_the_context_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """gevent puts one into the place of `threading.Thread`; others stay below the first."""
    from opentelemetry.context import attach as make_current
    from opentelemetry.context import detach, get_value, set_value

    first = threading.Thread

    class Replaced(first):  # type: ignore[misc, valid-type]
        """Inherits `start`."""

    class Older(first):  # type: ignore[misc, valid-type]
        """Made before it."""

    monkeypatch.setattr(threading, "Thread", Replaced)
    threads.carry_into_threads()
    log: list[object] = []
    token = make_current(set_value("key", "value"))
    try:
        for cls in (Replaced, Older, first):
            thread = cls(target=lambda: log.append(get_value("key")))
            thread.start()
            thread.join()
    finally:
        detach(token)
    assert log == ["value"] * 3
    threads.stop_carrying()
    assert "start" not in vars(Replaced)


def test_doctor_reports_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threading, "Thread", type("Thread", (threading.Thread,), {}))
    done = CliRunner().invoke(main, ["doctor", "--json"])
    report = json.loads(done.stdout)
    assert {patch["state"] for patch in report["threads"]} == {"attached"}
    monkeypatch.setattr(multiprocessing.pool.Pool, "imap", 7)
    done = CliRunner().invoke(main, ["doctor"])
    assert "FAILED" in done.stdout
    assert "multiprocessing.pool.Pool.imap" in done.stdout
    assert done.exit_code == 1


class _LazyModule(types.ModuleType):
    """Fails to import any requested attribute."""

    def __getattr__(self, name: str) -> Any:
        raise ImportError(f"{name} needs an extra")


class _Namespace:
    __slots__ = ("run",)


def odd_modules() -> dict[str, Any]:
    lazy, slots, sealed = (_LazyModule("lazy"), types.ModuleType("m"), types.ModuleType("m"))
    namespace: Any = _Namespace()
    namespace.run = lambda: None
    slots.__dict__["Agent"] = namespace
    sealed.__dict__["Agent"] = Sealed
    return {"lazy": lazy, "no dict": slots, "sealed": sealed}


@pytest.mark.parametrize("description", odd_modules())
def test_an_unexpected_framework_is_imported_unchanged(
    description: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unchanged(call: Any, _instance: Any, args: Any, options: Any) -> Any:
        return call(*args, **options)

    module = odd_modules()[description]
    module.fine = lambda: None
    attribute = "start" if description == "sealed" else "run"

    class Instrumentor(AgentInstrumentor):
        framework = "odd"
        patches = (
            Patch("odd_framework", f"Agent.{attribute}", unchanged),
            Patch("odd_framework", "fine", unchanged),
        )

    monkeypatch.setitem(sys.modules, "odd_framework", module)
    instrumentor = Instrumentor()
    instrumentor.instrument()
    assert instrumentor.attached[f"odd_framework.Agent.{attribute}"].state == "failed"
    assert instrumentor.attached["odd_framework.fine"].state == "attached"
    instrumentor.uninstrument()


def test_an_instrumentor_that_fails_keeps_the_others_in_force(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from agentool_otel.tracing.setup import frameworks
    from agentool_otel.tracing.spans.settings import settings

    class Broken:
        framework = "broken"

        def instrument(self) -> None:
            raise KeyError("start")

    class Whole:
        enabled = False

        def instrument(self) -> None:
            self.enabled = True

    complete = Whole()
    monkeypatch.setattr(settings, "strict", False)
    names = {"broken": Broken(), "whole": complete}
    monkeypatch.setattr(frameworks, "_loaded", names)
    monkeypatch.setattr(frameworks, "_points", names)
    attach(("broken", "whole"), threads=False)
    assert complete.enabled
    assert "attaching to broken" in caplog.text
