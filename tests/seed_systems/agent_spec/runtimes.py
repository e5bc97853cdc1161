"""The same Agent Spec JSON in the runtimes that report their work."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

__all__ = [
    "EXAMPLE",
    "ROOT",
    "RUNTIMES",
    "ask",
    "example",
    "follow",
    "langgraph",
    "missing",
    "needed",
]

ROOT = Path(__file__).parent.parent.parent.parent
EXAMPLE = ROOT / "examples" / "agent_spec"

CONFIG: Any = {"configurable": {"thread_id": "talk-1"}}
Tools = dict[str, Callable[..., Any]]


def langgraph(json: str, tools: Tools) -> Any:
    """Return the graph of a component."""
    os.environ.setdefault("OPENAI_API_KEY", "none")  # its clients want one
    loader = import_module("pyagentspec.adapters.langgraph").AgentSpecLoader
    return loader(tool_registry=tools).load_json(json)


def _ask_langgraph(json: str, tools: Tools, question: str) -> str:
    requests = {"messages": [{"role": "user", "content": question}]}
    return str(langgraph(json, tools).invoke(requests, CONFIG)["messages"][-1].content)


def _follow_langgraph(json: str, tools: Tools, inputs: dict[str, Any]) -> Any:
    return langgraph(json, tools).invoke({"inputs": inputs}, CONFIG)["outputs"]


@contextmanager
def _wayflow(json: str, tools: Tools) -> Generator[Any]:
    loader = import_module("wayflowcore.agentspec").AgentSpecLoader
    listener = import_module("wayflowcore.agentspec.tracing").AgentSpecEventListener
    register = import_module("wayflowcore.events.eventlistener").register_event_listeners
    with register([listener()]):
        yield loader(tool_registry=tools).load_json(json)


def _ask_wayflow(json: str, tools: Tools, question: str) -> str:
    with _wayflow(json, tools) as assistant:
        conversation = assistant.start_conversation()
        conversation.append_user_message(question)
        conversation.execute()
        return str(conversation.get_last_message().content)


def _follow_wayflow(json: str, tools: Tools, inputs: dict[str, Any]) -> Any:
    with _wayflow(json, tools) as assistant:
        return assistant.start_conversation(inputs).execute().output_values


_ASK = {"langgraph": _ask_langgraph, "wayflow": _ask_wayflow}
_FOLLOW = {"langgraph": _follow_langgraph, "wayflow": _follow_wayflow}
_MODULES = {"langgraph": "langgraph", "wayflow": "wayflowcore"}

RUNTIMES = pytest.mark.parametrize("runtime", ["langgraph", "wayflow"])


def missing(runtime: str) -> None:
    """Skip a test whose runtime is not installed."""
    for module in ("pyagentspec", _MODULES[runtime]):
        if find_spec(module) is None:
            pytest.skip(f"{module} is not installed")


def ask(runtime: str, json: str, tools: Tools, question: str) -> str:
    """Run an agent with a question, and return its answer."""
    missing(runtime)
    return _ASK[runtime](json, tools, question)


def follow(runtime: str, json: str, tools: Tools, **inputs: Any) -> Any:
    """Run a flow, and return its outputs."""
    missing(runtime)
    return _FOLLOW[runtime](json, tools, inputs)


def example() -> ModuleType:
    """Return the example, which runs one agent in every runtime."""
    spec = spec_from_file_location("agent_spec_example", EXAMPLE / "ask.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def needed(runtime: str) -> None:
    """Skip a test whose runtime, by its name in the example, is not installed."""
    module, _ = example().RUNTIMES[runtime]
    if find_spec(module) is None or (runtime != "crewai" and find_spec("pyagentspec") is None):
        pytest.skip(f"{module} is not installed")
