"""The agent of `agentool-otel demo`: plain Python and an HTTP request, all six step types."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from time import sleep
from typing import Any

import agentool_otel
from agentool_otel.cli._demo_model import ask, scripted_model

__all__ = ["answer"]

_TRAINS: list[dict[str, Any]] = [
    {"train": "ES 475", "from": "Berlin", "to": "Malmö", "departs": "20:56", "price_eur": 69},
    {"train": "EC 171", "from": "Berlin", "to": "Prague", "departs": "06:59", "price_eur": 38},
]
_MEMORY = {"ada": {"likes": ["night trains", "the sea"], "budget_eur": 200}}


def answer(question: str) -> str:
    """Start the model, and answer a question."""
    with scripted_model() as model:
        return Travel(model.base_url).plan(question)


@agentool_otel.step("memory_read")
def recall(query: str) -> list[dict[str, Any]]:
    return [facts for name, facts in _MEMORY.items() if name in query.lower()]


@agentool_otel.step("memory_write")
def remember(key: str, content: Any) -> None:
    _MEMORY[key] = content


@agentool_otel.tool
def search_trains(origin: str, night: bool = False) -> list[dict[str, Any]]:
    """Find trains from a city."""
    sleep(0.01)
    return [
        train for train in _TRAINS if train["from"] == origin and (train["departs"] > "20") == night
    ]


@agentool_otel.tool
def weather(city: str, day: str) -> dict[str, Any]:
    """Return the weather of a day."""
    if day == "Saturday":
        sleep(0.02)
        raise TimeoutError("the weather service did not answer within 20 ms")
    sleep(0.01)
    return {"city": city, "day": day, "sky": "sunny", "celsius": 21}


@agentool_otel.tool
def reserve(train: str, seats: int) -> dict[str, Any]:
    """Reserve seats in a train."""
    sleep(0.01)
    return {"booking": "BX-2041", "train": train, "seats": seats}


class Travel:
    """Two agents that share a model.

    Args:
        base_url: where the model is.
    """

    def __init__(self, base_url: str):
        self._base_url = base_url

    @agentool_otel.agent(name="trip-planner", description="Plans a weekend by train.")
    def plan(self, question: str) -> str:
        """Answer a question the way agents do: look up, think, call tools, hand over, remember."""
        facts = recall("what does Ada like?")
        system = f"You plan weekends by train. What is known of Ada: {json.dumps(facts)}"
        tools: dict[str, Callable[..., Any]] = {
            "search_trains": search_trains,
            "weather": weather,
            "transfer_to_booking-agent": partial(self.hand_over, "booking-agent"),
        }
        plan = self._work(system, question, tools)
        remember("last_trip", plan)
        return plan

    @agentool_otel.step("handoff")
    def hand_over(self, to_agent: str, message: str) -> str:
        return self.book(message)

    @agentool_otel.agent(name="booking-agent", description="Reserves what others have found.")
    def book(self, order: str) -> str:
        return self._work("You book trains.", order, {"reserve": reserve})

    def _work(self, system: str, task: str, tools: Mapping[str, Callable[..., Any]]) -> str:
        """Call the model and the tools that it requests, until it answers without a call."""
        offered = [_offer(name) for name in tools]
        messages = [{"role": "system", "content": system}, {"role": "user", "content": task}]
        while True:
            message = ask(self._base_url, messages, offered)
            messages.append(message)
            calls = message.get("tool_calls")
            if not calls:
                return str(message["content"])
            messages += [_result(call, tools[call["function"]["name"]]) for call in calls]


def _result(call: dict[str, Any], tool: Callable[..., Any]) -> dict[str, Any]:
    """Run a tool call of the model and return the message that answers it."""
    try:
        result = tool(**json.loads(call["function"]["arguments"]))
    except TimeoutError as error:
        result = f"error: {error}"
    content = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
    return {"role": "tool", "tool_call_id": call["id"], "content": content}


_TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "search_trains": ("Find trains from a city.", {"origin": "string", "night": "boolean"}),
    "weather": ("Tell the weather of a day.", {"city": "string", "day": "string"}),
    "transfer_to_booking-agent": ("Hand over to the agent that books.", {"message": "string"}),
    "reserve": ("Reserve seats in a train.", {"train": "string", "seats": "integer"}),
}


def _offer(name: str) -> dict[str, Any]:
    """Return the definition of a tool as the model gets it."""
    description, types = _TOOLS[name]
    properties = {name: {"type": kind} for name, kind in types.items()}
    parameters = {"type": "object", "properties": properties, "required": list(types)}
    function = {"name": name, "description": description, "parameters": parameters}
    return {"type": "function", "function": function}
