"""Frames of the CLI, and options of the SDK, as messages, tools and token counts.

Source: claude-agent-sdk _internal/message_parser.py and types.py at 0.2; an `assistant` frame has
a message of Anthropic's API with one block of its content.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.policy import as_text, encode
from agentool_otel.model.messages import Message, Part, message, only_block, parts_of, text
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers import anthropic
from agentool_otel.providers.fields import get, integer, items, plain_text, record, string
from agentool_otel.providers.tools import definitions

__all__ = [
    "agent_definition",
    "agent_name",
    "answer_of",
    "failure_of",
    "final_output",
    "instructions",
    "is_refusal",
    "offered_tools",
    "prompt_of",
    "rejected_ids",
    "report_of",
    "result_blocks",
    "result_of",
    "session_id",
    "with_known_counts",
]


def prompt_of(prompt: Any) -> Message | None:
    """Return a prompt: a text, or a `user` frame that the program sends."""
    words = plain_text(prompt)
    if words is not None:
        return message("user", [text(words)])
    content = get(prompt, "message")
    return None if content is None else anthropic.message_of(content)


def agent_name(options: Any) -> str | None:
    """Return the name of the agent that the CLI's `--agent` selects."""
    return string(get(options, "extra_args"), "agent")


def agent_definition(options: Any, name: str | None) -> Any:
    """Return the definition of a sub-agent, None if the program has none of this name."""
    agents = record(get(options, "agents"))
    return None if agents is None or name is None else agents.get(name)


def instructions(system_prompt: Any) -> list[Part] | None:
    """Return the system prompt as far as the program has set it."""
    words = plain_text(system_prompt)
    if words is None:
        words = string(system_prompt, "prompt") or string(system_prompt, "append")
    return [text(words)] if words else None


def offered_tools(names: Any, listed: dict[str, dict[str, Any]]) -> list[dict[str, Any]] | None:
    """Return the tools that the CLI offers to the model.

    Args:
        names: as the `init` frame has them.
        listed: by the same name, the definitions of the servers in this process.
    """
    known = [
        {**listed.get(name, {}), "name": name, "type": "function"}
        for item in items(names)
        if (name := plain_text(item)) is not None
    ]
    return definitions(known)


def result_blocks(frame: Any) -> list[Any]:
    """Return the results of tools in a `user` frame."""
    content = items(get(frame, "message"), "content")
    return [block for block in content if string(block, "type") == "tool_result"]


def rejected_ids(frame: Any) -> set[str | None]:
    """Return the ids of the calls in a `user` frame that were not permitted."""
    return {
        string(meta, "id")
        for meta in items(frame, "tool_result_meta")
        if string(get(meta, "permission_decision"), "decision") == "reject"
    }


def result_of(block: Any) -> Any:
    """Return the result of a tool as its caller sees it."""
    content = get(block, "content")
    words = plain_text(content)
    if words is not None:
        return words
    parts = anthropic.parts_of(content)
    if parts and all(part.get("type") == "text" for part in parts):
        return "\n".join(part["content"] for part in parts)
    return only_block(items(content)) if content is not None else None


def answer_of(operation: Inference) -> Message | None:
    """Return the message that a model call has produced."""
    return operation.output[0] if operation.output else None


_REFUSALS = ("Permission to use ", "Claude requested permissions to ")


def is_refusal(result: Any) -> bool:
    """Return whether an error is the CLI's refusal of a call, by its words.

    The CLI of claude-agent-sdk 0.2.82 and before reports it in no other way.
    """
    words = plain_text(result)
    return words is not None and words.startswith(_REFUSALS)


def report_of(structured: Any) -> str | None:
    """Return the report of a sub-agent, without the CLI's words around it; None if it has none."""
    if string(structured, "status") != "completed":
        return None
    reports = [string(block, "text") for block in items(structured, "content")]
    return "\n".join(filter(None, reports)) or None


def final_output(frame: Any) -> list[Message] | None:
    """Return the output of a run from its `result` frame."""
    structured = get(frame, "structured_output")
    words = string(frame, "result") if structured is None else encode(structured)
    return [message("assistant", [text(as_text(words))], "stop")] if words else None


def with_known_counts(operation: Inference, counted: bool) -> Inference:
    """Return a model call without what an incomplete message has in the place of its end.

    A message that is not streamed to this process is as it was at its beginning: it has no stop
    reason, and a placeholder for the number of output tokens.

    Args:
        operation: as read from the message.
        counted: whether the counts are those of the whole message.
    """
    if operation.finish_reasons:
        return operation
    calls = any(
        part.get("type") == "tool_call"
        for item in operation.output or ()
        for part in parts_of(item)
    )
    usage = operation.usage
    if usage is not None and not counted:
        usage = Usage(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cache_read_tokens,
            cache_write_tokens=usage.cache_write_tokens,
        )
    return replace(operation, usage=usage, finish_reasons=["tool_call"] if calls else None)


def failure_of(frame: Any) -> str:
    """Return the class of the failure that a result has."""
    subtype = string(frame, "subtype")
    if subtype not in (None, "success"):
        return subtype or "error"
    status = integer(frame, "api_error_status")
    return "api_error" if status is None else str(status)


def session_id(options: Any) -> str | None:
    """Return the id of the session where the program has chosen it."""
    if get(options, "fork_session") is not True and (resumed := string(options, "resume")):
        return resumed
    return string(options, "session_id")
