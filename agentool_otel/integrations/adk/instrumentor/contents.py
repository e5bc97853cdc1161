"""Google's contents in the events of ADK, as messages.

Source: google-adk events/event.py at 1.19 and 2.13.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.model.messages import Message, message, text
from agentool_otel.providers import google
from agentool_otel.providers.fields import get, items, string

__all__ = ["Waiting", "answer_in", "decisions_in", "messages_of", "request_in", "unwrapped"]

_OTHERS = ("tool_call", "tool_call_response")
_KINDS = {
    "adk_request_confirmation": "approval",
    "adk_request_credential": "authentication",
    "adk_request_input": "input",
}
"""What a run waits for, by the call with which ADK asks for it."""


def messages_of(content: Any) -> list[Message] | None:
    """Return a content as the messages of an input; None for none."""
    return None if content is None else [google.message_of(content)]


def answer_in(event: Any) -> Message | None:
    """Return what an event answers the user; None for calls, results and pieces of a stream."""
    if get(event, "partial") is True:
        return None
    if get(event, "content") is None and (output := get(event, "output")) is not None:
        return message("assistant", [text(as_text(jsonable(output)))])  # of a node of a graph
    parts = google.parts_of(get(get(event, "content"), "parts"))
    if any(part["type"] in _OTHERS for part in parts):
        return None
    return message("assistant", parts) if parts else None


def request_in(arguments: Any) -> list[Message]:
    """Return the arguments of a tool that runs an agent, as the input of that."""
    request = string(arguments, "request")
    return [message("user", [text(as_text(jsonable(arguments)) if request is None else request)])]


def unwrapped(response: Any) -> Any:
    """Return the result of a tool: ADK puts one that is no object into one."""
    result = jsonable(response)
    if isinstance(result, dict) and result.keys() == {"result"}:
        return result["result"]
    return result


class Waiting:
    """Calls of a run that have no result yet: they wait for a human, or for the program."""

    __slots__ = ("_calls", "_long_running")

    def __init__(self) -> None:
        self._calls: dict[str, Any] = {}
        self._long_running: set[str] = set()

    def see(self, event: Any) -> None:
        """Take an event of the run."""
        if get(event, "partial") is True:
            return
        self._long_running.update(get(event, "long_running_tool_ids") or ())
        for part in items(get(event, "content"), "parts"):
            call, response = get(part, "function_call"), get(part, "function_response")
            call_id = string(call, "id")
            if call_id is not None and call_id in self._long_running:
                self._calls[call_id] = call
            elif (answered := string(response, "id")) is not None:
                self._calls.pop(answered, None)

    @property
    def kind(self) -> str | None:
        """Return what the run waits for; None if it does not wait."""
        kinds = [_KINDS.get(string(call, "name") or "") for call in self._calls.values()]
        named = next((kind for kind in kinds if kind is not None), None)
        return named or ("long_running_tool" if kinds else None)

    def calls(self) -> list[dict[str, Any]]:
        """Return the calls; in the place of a request for confirmation, the call to confirm."""
        return [_call(call) for call in self._calls.values()]


def _call(call: Any) -> dict[str, Any]:
    arguments = get(call, "args")
    original = get(arguments, "originalFunctionCall") or get(arguments, "original_function_call")
    asked = call if original is None else original
    names = {"id": string(asked, "id"), "name": string(asked, "name")}
    which = {key: value for key, value in names.items() if value is not None}
    return {**which, "arguments": jsonable(get(asked, "args"))}


def decisions_in(content: Any) -> list[dict[str, Any]]:
    """Return the answers to waiting calls in the message that continues a run."""
    responses = [get(part, "function_response") for part in items(content, "parts")]
    return [
        {
            **{key: text for key in ("id", "name") if (text := string(each, key)) is not None},
            "response": jsonable(get(each, "response")),
        }
        for each in responses
        if each is not None
    ]
