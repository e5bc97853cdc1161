"""One agent, written once in Open Agent Spec, in every runtime that is installed.

    pip install 'pyagentspec[langgraph,wayflow,openai-agents,autogen,agent-framework]' ../..
    python ask.py                          # all runtimes, against a model on this machine
    python ask.py langgraph wayflow        # CrewAI installs into an environment of its own only
    agentool-otel compare --cases cases.json --match contains

With OPENAI_BASE_URL and OPENAI_API_KEY set, that model is used instead.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from importlib import import_module
from json import loads
from pathlib import Path
from typing import Any

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import Request, Turn, call

QUESTIONS = ("How is the weather in Paris?", "How is the weather in Rome?")
WEATHER = {"Paris": "sunny", "Rome": "rainy"}


def get_weather(city: str) -> str:
    """Look up the weather of a city."""
    return WEATHER.get(city, "unknown")


TOOLS = {"get_weather": get_weather}


def specification(url: str) -> str:
    """Return the JSON of the agent, with the address of the model."""
    text = Path(__file__).with_name("weather.json").read_text(encoding="utf-8")
    return text.replace("MODEL_URL", url)


def _loaded(adapter: str, json: str) -> Any:
    loader = import_module(f"pyagentspec.adapters.{adapter}").AgentSpecLoader
    return loader(tool_registry=TOOLS).load_json(json)


def langgraph(json: str, question: str) -> str:
    graph = _loaded("langgraph", json)
    requests = {"messages": [{"role": "user", "content": question}]}
    config = {"configurable": {"thread_id": question}}
    return str(graph.invoke(requests, config)["messages"][-1].content)


def wayflow(json: str, question: str) -> str:
    loader = import_module("wayflowcore.agentspec").AgentSpecLoader
    tracing = import_module("wayflowcore.agentspec.tracing").AgentSpecEventListener
    listening = import_module("wayflowcore.events.eventlistener").register_event_listeners
    conversation = loader(tool_registry=TOOLS).load_json(json).start_conversation()
    conversation.append_user_message(question)
    with listening([tracing()]):
        conversation.execute()
    return str(conversation.get_last_message().content)


def openai_agents(json: str, question: str) -> str:
    runner = import_module("agents").Runner
    return str(asyncio.run(runner.run(_loaded("openaiagents", json), question)).final_output)


def autogen(json: str, question: str) -> str:
    return str(asyncio.run(_loaded("autogen", json).run(task=question)).messages[-1].content)


def agent_framework(json: str, question: str) -> str:
    return str(asyncio.run(_loaded("agent_framework", json).run(question)).text)


def crewai(json: str, question: str) -> str:
    """Build the crew by hand: pyagentspec has no adapter for CrewAI since 26.3."""
    package, tool = import_module("crewai"), import_module("crewai.tools").tool
    spec = loads(json)
    config = spec["llm_config"]
    agent = package.Agent(
        role=spec["name"],
        goal=spec["system_prompt"],
        backstory=spec["description"],
        llm=package.LLM(model=f"openai/{config['model_id']}", base_url=config["url"]),
        tools=[tool(item["name"])(TOOLS[item["name"]]) for item in spec["tools"]],
    )
    task = package.Task(description=question, expected_output="An answer.", agent=agent)
    return str(package.Crew(agents=[agent], tasks=[task]).kickoff().raw)


RUNTIMES: dict[str, tuple[str, Callable[[str, str], str]]] = {
    "langgraph": ("langgraph", langgraph),
    "wayflow": ("wayflowcore", wayflow),
    "openai-agents": ("agents", openai_agents),
    "autogen": ("autogen_agentchat", autogen),
    "agent-framework": ("agent_framework", agent_framework),
    "crewai": ("crewai", crewai),
}
"""By name, the module that has to be installed, and what runs the agent."""


def weather_model(request: Request) -> Turn | str:
    """Answer as a model would: look the city up, then describe the weather."""
    city = "Rome" if "Rome" in str(request.messages) else "Paris"
    if request.after_tool:
        return f"It is {WEATHER[city]} in {city}."
    return call("get_weather", city=city)


def missing(name: str) -> str | None:
    """Return a module that a runtime needs and that is not installed."""
    needed = RUNTIMES[name][0]
    for module in (needed,) if name == "crewai" else ("pyagentspec", needed):
        try:
            import_module(module)
        except ImportError:
            return module
    return None


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in RUNTIMES]
    if unknown:
        print(f"no runtime {unknown[0]!r}: use {', '.join(RUNTIMES)}", file=sys.stderr)
        return 2
    agentool_otel.instrument()
    os.environ.setdefault("OPENAI_API_KEY", "none")
    os.environ.setdefault("OPENAI_AGENTS_DISABLE_TRACING", "true")  # it would upload its own
    with ExitStack() as stack:
        url = os.environ.get("OPENAI_BASE_URL")
        if url is None:
            model = stack.enter_context(LoopbackModel())
            model.rule(weather_model)
            url = model.base_url
        for name in names or list(RUNTIMES):
            if (module := missing(name)) is not None:
                print(f"{name}: {module} is not installed")
                continue
            for question in QUESTIONS:
                print(f"{name}: {RUNTIMES[name][1](specification(url), question)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
