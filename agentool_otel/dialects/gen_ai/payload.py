"""Arguments and results of tools, which have to be objects: other values are wrapped in one.

Spec: `gen_ai.tool.call.arguments` and `.result` of the conventions. Wrapped values
are listed in `agentool.tool.wrapped`, and unwrapped when read.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.gen_ai.fields import payload_text
from agentool_otel.dialects.kit.reading import LazyJson, LazyObject, Reader
from agentool_otel.ground.json_codec import dumps, loads
from agentool_otel.model.operations import UNSET, McpRequest, ToolExecution
from agentool_otel.model.spans import Attributes
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["tool_payload", "unwrap_payload", "write_message", "write_payload"]

_MESSAGE = "message"
"""Member of a transfer tool's arguments that is the handoff's message, and how that is named."""


def unwrap_payload(span: Reader, values: dict[str, Any]) -> None:
    """Restore arguments, result and message among the fields of an operation, in place."""
    arguments = values.get("arguments")
    if isinstance(arguments, str):
        values["arguments"] = _parsed_twice(arguments)
    if agentool.TOOL_WRAPPED in span.rest:
        wrapped = span.texts(agentool.TOOL_WRAPPED) or ()
        for field in ("arguments", "result"):
            value = values.get(field)
            if field in wrapped and isinstance(value, LazyObject):
                values[field] = value.member("result")
            elif field in wrapped and isinstance(value, dict):
                values[field] = value.get("result", UNSET)
        if _MESSAGE in wrapped and "arguments" in values:
            values["transfer_message"] = _message_in(values.pop("arguments"))


def _message_in(arguments: Any) -> str | None:
    """Return the message of a handoff from its arguments."""
    if isinstance(arguments, LazyObject):
        arguments = arguments.member(_MESSAGE)
    elif isinstance(arguments, dict):
        arguments = arguments.get(_MESSAGE)
    return arguments if isinstance(arguments, str) else None  # also what a hook has made of it


def _parsed_twice(text: str) -> Any:
    """Some SDKs encode arguments as JSON text inside JSON text."""
    try:
        value = loads(text)
    except ValueError:
        return text
    return value if isinstance(value, dict) else text


def write_message(op: ToolExecution, attributes: Attributes) -> list[str]:
    """Put the message of a handoff into the tool's arguments, where backends look for it, unless
    the arguments are known; return the message if it was wrapped into an object.
    """
    if op.transfer_message is None or op.arguments is not UNSET:
        return []
    attributes[gen_ai.TOOL_CALL_ARGUMENTS] = dumps({_MESSAGE: op.transfer_message})
    del attributes[agentool.TRANSFER_MESSAGE]
    return [_MESSAGE]


def write_payload(
    op: ToolExecution | McpRequest, attributes: Attributes, wrapped: list[str]
) -> None:
    """Put arguments and result among the attributes, as objects.

    Args:
        op: the operation.
        attributes: changed in place.
        wrapped: what was put into an object before.
    """
    for field, key in (
        ("arguments", gen_ai.TOOL_CALL_ARGUMENTS),
        ("result", gen_ai.TOOL_CALL_RESULT),
    ):
        value = getattr(op, field)
        if value is UNSET:
            continue
        if not isinstance(value, (dict, LazyObject)):  # Spec: arguments and results are objects
            wrapped.append(field)
            value = {"result": value.value if isinstance(value, LazyJson) else value}
        attributes[key] = payload_text(value)
    if wrapped:
        attributes[agentool.TOOL_WRAPPED] = wrapped


def tool_payload(arguments: str | None, result: str | None) -> Attributes:
    """Return the attributes of arguments and result that are JSON text already."""
    attributes: Attributes = {}
    wrapped: list[str] = []
    if arguments is not None:
        attributes[gen_ai.TOOL_CALL_ARGUMENTS] = arguments
    if result is not None:
        if result[:1] != "{":
            result = f'{{"result":{result}}}'
            wrapped.append("result")
        attributes[gen_ai.TOOL_CALL_RESULT] = result
    if wrapped:
        attributes[agentool.TOOL_WRAPPED] = wrapped
    return attributes
