"""Tool calls, prompts and token counts as Qwen Code writes them, in every channel."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import DENIED
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import ToolExecution, Usage

__all__ = ["CANCELLED", "SHELL", "error_kind", "exit_code_in", "is_housekeeping", "prompt_in",
           "refusal_in", "sub_agent_of", "usage_of", "with_response"]  # fmt: skip

SHELL = "run_shell_command"
CANCELLED = "cancelled"
"""Status of a call that was under way when the user stopped the turn, and its error type."""
_DENIALS = frozenset({
    "execution_denied",
    # `telemetry/constants.ts` of 2026-11:
    "background_agent_denied", "invocation_guard_denied", "non_interactive_denied",
    "permission_denied", "permission_hook_denied", "plan_mode_blocked", "pre_hook_blocked",
})  # fmt: skip
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d+)$", re.MULTILINE)
_REFUSED = re.compile(r'(Tool ".*?" not found in registry\.)|params(?:/\S*)? must ')
"""Beginnings of what the model is sent for a tool that there is not, and for wrong arguments.
Source: `getToolNotFoundMessage` and the errors of Ajv in Qwen Code 0.24.4."""
_OF_SUB_AGENT = re.compile(r"[^#]+#([^#]+)#\d+")
_REMINDER = "<system-reminder>"
_HOUSEKEEPERS = ("managed-auto-memory-",)
"""Beginnings of the ids of agents that Qwen Code starts for itself after a turn."""


def sub_agent_of(prompt: object) -> str | None:
    """Return the id of the sub-agent in the id of a prompt, `<session>#<sub-agent>#<n>`; None for
    the session's own, `<session>########<n>`."""
    found = _OF_SUB_AGENT.fullmatch(prompt) if isinstance(prompt, str) else None
    return None if found is None else found[1]


def is_housekeeping(agent: str | None) -> bool:
    """Return whether an agent is none that the model has asked for."""
    return agent is not None and agent.startswith(_HOUSEKEEPERS)


def prompt_in(parts: Any) -> str | None:
    """Return what the user typed, without the reminders that Qwen Code puts before it."""
    texts = [
        part.get("text") or part.get("content")
        for part in (parts if isinstance(parts, list) else ())
        if isinstance(part, dict)
    ]
    typed = [text for text in texts if isinstance(text, str) and not text.startswith(_REMINDER)]
    return "\n".join(typed) or None


def error_kind(kind: object) -> str:
    """Return the error type of a tool call that failed."""
    if kind in _DENIALS:
        return DENIED
    return kind if isinstance(kind, str) and kind else "tool_error"


def refusal_in(words: object) -> str | None:
    """Return the error type of a call that never started, from what the model is sent: it has no
    span. None for any other text."""
    found = _REFUSED.match(words) if isinstance(words, str) else None
    if found is None:
        return None
    return "tool_not_registered" if found[1] is not None else "invalid_tool_params"


def with_response(
    call: ToolExecution, response: dict[str, Any], kind: object = None, exit_code: Any = None
) -> ToolExecution:
    """Return a call with its outcome.

    Args:
        call: the call.
        response: what the model is sent, with the member `output` or `error`.
        kind: type of the error, if the record has one.
        exit_code: that of a command, if the record has one.
    """
    failure = response.get("error")
    result = response["output"] if response.keys() == {"output"} else response
    if type(exit_code) is not int:
        exit_code = exit_code_in(call.name, result if failure is None else failure)
    if failure is None:
        return replace(call, result=result, exit_code=exit_code)
    words = failure if isinstance(failure, str) else None
    return replace(call, error_type=error_kind(kind), error_message=words, exit_code=exit_code)


def exit_code_in(tool: str, words: Any) -> int | None:
    """Return the exit code of a command in the text that the model is sent."""
    found = _EXIT_CODE.search(words) if tool == SHELL and isinstance(words, str) else None
    return None if found is None else int(found[1])


def usage_of(prompt: Any, answer: Any, cached: Any, thoughts: Any, total: Any) -> Usage | None:
    """Return token counts. The total shows whether thoughts are counted in the answer: they are by
    OpenAI's API, not by Google's."""
    tokens = [_count(item) for item in (prompt, answer, cached, thoughts, total)]
    asked, answered, read, thought, every = tokens
    if asked is None and answered is None:
        return None
    if answered is not None and every == (asked or 0) + answered + (thought or 0):
        answered += thought or 0
    return Usage(
        input_tokens=asked,
        output_tokens=answered,
        cache_read_tokens=read,
        reasoning_tokens=thought,
    )


def _count(value: Any) -> int | None:
    return value if type(value) is int and value >= 0 else None
