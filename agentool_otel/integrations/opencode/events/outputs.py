"""What a tool returned: the same in spans and exports.

    {"title", "output": "…", "metadata": {"exit": 3}}
    {"output": "<path>…</path><content>1: …", "metadata": {"display": {"type": "file", "text"}}}

Source: records of opencode 1.18.33.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.model.operations import Json, ToolExecution

__all__ = ["exit_code", "is_denial", "returned", "with_error"]

_INVALID = "invalid"
"""The tool that opencode runs in place of one that the model made up."""
_DENIALS = (
    "The user has specified a rule which prevents you from using this specific tool call",
    "The user rejected permission to use this specific tool call",  # its source
)


def returned(output: Json, metadata: Any) -> Json:
    """Return what a tool returned; of a file, its text without numbers of lines."""
    match metadata:
        case {"display": {"type": "file", "text": str(text)}}:
            return text
        case _:
            return output


def exit_code(metadata: Any) -> int | None:
    """Return the exit code of a command."""
    code = metadata.get("exit") if isinstance(metadata, dict) else None
    return code if type(code) is int else None


def is_denial(words: object) -> bool:
    """Return whether a tool's error is that it may not run."""
    return isinstance(words, str) and words.startswith(_DENIALS)


def with_error(call: ToolExecution) -> ToolExecution:
    """Return a call that has ended, one of the tool `invalid` with an error: its result says what
    the model did wrong."""
    if call.name != _INVALID or call.error_type is not None or not isinstance(call.result, str):
        return call
    return replace(call, error_type="tool_error", error_message=call.result)
