"""The model of `agentool-otel demo`: a server on this machine with scripted answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

__all__ = ["ask", "scripted_model"]

_MODEL = "loopback-model"
_USD_A_TOKEN = {"prompt_tokens": 2.5e-6, "completion_tokens": 15e-6}
"""A made-up price, as models of a provider have one."""


def scripted_model() -> LoopbackModel:
    """Return the model with its answers in the order of the demo's calls; start it with `with`."""
    return LoopbackModel(
        Turn(
            text="Ada likes night trains and has 200 EUR, so by night it is.",
            tool_calls=(ToolCall("search_trains", {"origin": "Berlin", "night": True}),),
        ),
        Turn(
            tool_calls=(
                ToolCall("weather", {"city": "Malmö", "day": "Saturday"}),
                ToolCall("weather", {"city": "Malmö", "day": "Sunday"}),
            ),
        ),
        Turn(
            text="No forecast for Saturday. Sunday is the day that matters, and it is sunny.",
            tool_calls=(
                ToolCall("transfer_to_booking-agent", {"message": "Reserve one seat in ES 475"}),
            ),
        ),
        Turn(tool_calls=(ToolCall("reserve", {"train": "ES 475", "seats": 1}),)),
        Turn(text="Booked as BX-2041."),
        Turn(text="Malmö with ES 475 at 20:56, sunny. Booked as BX-2041."),
    )


def ask(
    base_url: str, messages: Sequence[dict[str, Any]], tools: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    """Send messages to the model and return its answer, as programs with a client of their own do.

    The block around the request is all that records the call: messages, tools, tokens and cost.
    """
    address = urlsplit(base_url)
    body = {"model": _MODEL, "messages": list(messages), "tools": list(tools)}
    with agentool_otel.model_call(
        _MODEL, messages=messages, tools=tools, provider="loopback", url=base_url
    ) as call:
        connection = HTTPConnection(address.netloc)  # no proxy of the environment is asked
        try:
            connection.request(
                "POST",
                f"{address.path}/chat/completions",
                json.dumps(body),
                {"content-type": "application/json"},
            )
            response = json.loads(connection.getresponse().read())
        finally:
            connection.close()
        call.output(response)
        usage = response["usage"]
        call.usage(cost_usd=sum(usage[name] * price for name, price in _USD_A_TOKEN.items()))
    message: dict[str, Any] = response["choices"][0]["message"]
    return message
