"""The model's answers to the programs: all have cached and reasoning tokens."""

from __future__ import annotations

from agentool_otel.testing.loopback_model import LoopbackModel, Request, ToolCall, Turn

__all__ = ["the_model"]

_TRIP = (
    (ToolCall("look_up", {"question": "What does a trip need?"}),),
    (ToolCall("book", {"train": "ES 475"}),),
    (ToolCall("reserve", {"seats": 2}),),
)
"""Calls of the agent that has tools, in order."""


def the_model() -> LoopbackModel:
    """Return a server, not yet started, that has an answer for every program."""
    model = LoopbackModel()
    model.rule(_answer)
    return model


def _answer(request: Request) -> Turn:
    if "too soon" in request.last_user:
        return Turn(status=429, error="rate limit reached for gpt-5")
    answered = sum(1 for message in request.messages if message.get("role") == "tool")
    calls = _TRIP[answered] if request.tools and answered < len(_TRIP) else ()
    return Turn(
        text="" if calls else "ES 475 runs every night.",
        tool_calls=calls,
        input_tokens=101,
        output_tokens=41,
        cached_tokens=64,
        reasoning_tokens=16,
        chunk_delay_s=0.002,
    )
