"""The agent of `agentool-otel demo`: plain Python, all six step types, no model and no network."""

from __future__ import annotations

from time import sleep
from typing import Any

import agentool_otel

__all__ = ["plan_trip"]

_TRAINS: list[dict[str, Any]] = [
    {"train": "ES 475", "from": "Berlin", "to": "Malmö", "departs": "20:56", "price_eur": 69},
    {"train": "EC 171", "from": "Berlin", "to": "Prague", "departs": "06:59", "price_eur": 38},
]
_MEMORY = {"ada": {"likes": ["night trains", "the sea"], "budget_eur": 200}}


@agentool_otel.step("memory_read")
def recall(query: str) -> list[dict[str, Any]]:
    return [facts for name, facts in _MEMORY.items() if name in query.lower()]


@agentool_otel.step("memory_write")
def remember(key: str, content: Any) -> None:
    _MEMORY[key] = content


@agentool_otel.step("reasoning")
def think(thought: str) -> str:
    return thought


@agentool_otel.tool
def search_trains(origin: str, night: bool = False) -> list[dict[str, Any]]:
    """Find trains from a city."""
    sleep(0.04)
    return [
        train for train in _TRAINS if train["from"] == origin and (train["departs"] > "20") == night
    ]


@agentool_otel.tool
def weather(city: str, day: str) -> dict[str, Any]:
    """Tell the weather of a day."""
    sleep(0.02)
    if day == "Saturday":
        raise TimeoutError("the weather service did not answer within 20 ms")
    return {"city": city, "day": day, "sky": "sunny", "celsius": 21}


@agentool_otel.tool
def reserve(train: str, seats: int) -> dict[str, Any]:
    """Reserve seats in a train."""
    sleep(0.03)
    return {"booking": "BX-2041", "train": train, "seats": seats}


@agentool_otel.agent(name="booking-agent", description="Reserves what others have found.")
def booking_agent(order: str) -> str:
    train = order.removeprefix("Reserve one seat in ")
    booked = reserve(train, seats=1)
    return f"Booked as {booked['booking']}."


@agentool_otel.step("handoff")
def hand_over(to_agent: str, message: str) -> str:
    return booking_agent(message)


@agentool_otel.agent(name="trip-planner", description="Plans a weekend by train.")
def plan_trip(question: str) -> str:
    """Answer a question the way agents do: look up, think, call tools, hand over, remember."""
    facts = recall("what does Ada like?")[0]
    think(f"Ada likes {facts['likes'][0]} and has {facts['budget_eur']} EUR, so by night it is.")
    train = search_trains("Berlin", night=True)[0]
    try:
        sky = weather(train["to"], "Saturday")
    except TimeoutError:
        think("No forecast for Saturday. Sunday is the day that matters.")
        sky = weather(train["to"], "Sunday")
    booking = hand_over("booking-agent", f"Reserve one seat in {train['train']}")
    remember("last_trip", {"to": train["to"], "train": train["train"]})
    return f"{train['to']} with {train['train']} at {train['departs']}, {sky['sky']}. {booking}"
