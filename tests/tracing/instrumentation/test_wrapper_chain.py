"""Other wrappers of a function that an instrumentor wraps."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

from agentool_otel.tracing.instrumentation.wrapper_chain import foreign_wrappers


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType("some_library")
    source = "from contextlib import contextmanager\n@contextmanager\ndef run(): yield 1"
    exec(source, vars(module))
    monkeypatch.setitem(sys.modules, "some_library", module)
    return module


def test_standard_library_wrappers_are_not_foreign(library: Any) -> None:
    assert foreign_wrappers("some_library", "run") == []


def test_a_wrapper_of_another_package_is_named(library: Any) -> None:
    space: dict[str, Any] = {"__name__": "some_tracer.patches"}
    exec("def around(): pass", space)
    space["around"].__wrapped__ = library.run
    library.run = space["around"]
    assert foreign_wrappers("some_library", "run") == ["some_tracer.patches"]
