"""Patched functions are copied and pickled as they are without us."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.tracing.instrumentation import AgentInstrumentor, Patch


class Client:
    def __init__(self, name: str):
        self.name = name

    def ask(self) -> str:
        return self.name


def ask() -> str:
    return "answer"


def passes(wrapped: Any, instance: Any, args: Any, kwargs: Any) -> Any:
    return wrapped(*args, **kwargs)


class LibraryInstrumentor(AgentInstrumentor):
    framework = "library"
    patches = (Patch(__name__, "Client.ask", passes), Patch(__name__, "ask", passes))


@pytest.fixture(autouse=True)
def patched() -> Iterator[None]:
    instrumentor = LibraryInstrumentor()
    instrumentor.instrument()
    assert hasattr(ask, "_self_wrapper")
    yield
    instrumentor.uninstrument()


def test_a_function_is_its_own_copy() -> None:
    assert copy.copy(ask) is ask
    assert copy.deepcopy({"function": ask})["function"] is ask
    assert copy.deepcopy(Client.ask)(Client("one")) == "one"


def test_a_method_is_copied_with_its_object() -> None:
    client = Client("one")
    assert copy.copy(client.ask)() == "one"
    copied = copy.deepcopy(client.ask)
    client.name = "another"
    assert copied() == "one"


def test_what_is_pickled_is_found_again() -> None:
    assert pickle.loads(pickle.dumps(Client("one").ask))() == "one"
    assert pickle.loads(pickle.dumps(Client.ask))(Client("one")) == "one"


def test_a_function_that_another_module_holds_is_pickled_by_its_own_name() -> None:
    import html

    class ModuleInstrumentor(AgentInstrumentor):
        framework = "html"
        patches = (Patch("html", "_replace_charref", passes),)

    assert html is not None
    instrumentor = ModuleInstrumentor()
    held: Any = html
    original = held.escape
    held._replace_charref, before = original, held._replace_charref
    try:
        instrumentor.instrument()
        assert pickle.loads(pickle.dumps(held._replace_charref)) is original
    finally:
        instrumentor.uninstrument()
        held._replace_charref = before
