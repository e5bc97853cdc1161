"""Convert the values of CrewAI's events to the conventions.

Source: crewai tools/agent_tools, memory/types.py, agents/agent_builder at 1.14 and 1.15.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.content.encoding.introspection import module_name
from agentool_otel.content.policy import as_text, jsonable
from agentool_otel.model.messages import Message, message, text
from agentool_otel.model.operations import AgentInvocation
from agentool_otel.providers.calls import arguments_of
from agentool_otel.providers.fields import get, items, number, plain_text, record, string
from agentool_otel.providers.shapes import messages_of

__all__ = [
    "agent",
    "arguments",
    "as_messages",
    "conversation",
    "coworker",
    "internal",
    "memory_record",
    "role",
    "text_of",
]

allow("crewai")

_DELEGATING = ("delegate_work_to_coworker", "ask_question_to_coworker")


def role(name: str | None) -> str | None:
    """Return an agent's role as its name. Roles from YAML end with a line break."""
    return name.strip() or None if name is not None else None


def agent(described: Any) -> AgentInvocation:
    """Return the run of an agent, from the agent or the data of a `LiteAgent` event.

    Its id is left out: CrewAI draws a new one for every object, so it would separate two runs of
    the same agent.
    """
    return AgentInvocation(agent_name=role(string(described, "role")))


def internal(flow: Any) -> bool:
    """True for a flow that CrewAI runs for itself: the loop of an agent, the work of its memory."""
    module = module_name(type(flow)) or ""
    return module.startswith("crewai.") and not module.startswith("crewai.flow.")


def as_messages(speaker: str, *texts: str | None) -> list[Message] | None:
    """Return texts as messages, None if there are none."""
    return [message(speaker, [text(item)]) for item in texts if item] or None


def conversation(messages: Any) -> list[Message] | None:
    """Return the input of an agent: a text, or messages in the shape of OpenAI's."""
    return messages_of(jsonable(messages)) or None


def text_of(output: Any) -> str | None:
    """Return the output of a crew, a task, an agent or a flow as text."""
    words = plain_text(output)
    words = string(output, "raw") if words is None else words
    return as_text(output) if words is None and output is not None else words


def arguments(value: Any) -> Any:
    """Return a tool's arguments: an object if they are one, else their text."""
    return arguments_of(value)


def coworker(source: Any, tool: str, value: Any) -> str | None:
    """Return the role of the agent that a tool call goes to, None if it goes to none.

    Args:
        source: what runs the tool, for an agent of a crew.
        tool: name of the tool, as the model writes it.
        value: its arguments.
    """
    if "_".join(tool.lower().split()) not in _DELEGATING:
        return None
    named = string(value, "coworker") or string(value, "co_worker")
    if not named:
        return None
    wanted = _comparable(named.removeprefix("[").removesuffix("]").split(",")[0])
    crew = get(source, "crew")
    crew = get(get(source, "agent"), "crew") if crew is None else crew
    roles = [item for each in items(crew, "agents") if (item := role(string(each, "role")))]
    return next((item for item in roles if _comparable(item) == wanted), None)


def _comparable(name: str) -> str:
    """Return a role as CrewAI compares them: models write them as they like."""
    return " ".join(name.replace('"', "").split()).casefold()


def memory_record(match: Any) -> dict[str, Any]:
    """Return a result of a memory search as a record."""
    held = get(match, "record")
    source = match if held is None else held
    content = string(source, "content")
    fields: dict[str, Any] = {"content": jsonable(source) if content is None else content}
    if (identity := string(source, "id")) is not None:
        fields["id"] = identity
    if metadata := record(jsonable(get(source, "metadata"))):
        fields["metadata"] = metadata
    score = number(match, "score")
    if score is not None:
        fields["score"] = score
    return fields
