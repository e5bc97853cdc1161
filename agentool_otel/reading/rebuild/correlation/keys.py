"""Keys by which model calls without an agent refer to each other.

Without an agent around them every model call may be a trace of its own. Two calls belong to one run
when the later one answers a tool call of the earlier one, continues its response, or repeats its
history together with its answer.

A message of the user that follows an answer without tool calls begins a turn, which is a run of its
own. It is in the same session as the turns that its history repeats.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentool_otel.ground.stable_hash import stable_hash
from agentool_otel.model.messages import Message, call_id_of, parts_of, role_of, text_of
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.reading.rebuild.steps.model_calls import is_details
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import arguments_text
from agentool_otel.semconv import agentool

__all__ = ["Key", "Keys", "ids_on", "keys_of", "turns_in"]

Key = int
"""A hash of what a later call can refer to: 64 bits, equal in every process."""

_STATES = 4
"""Most states of its history that a call is matched by, latest first. The latest is that of the
previous call; the others help where that call was not recorded.
"""


class Keys(NamedTuple):
    """The keys of one call."""

    offered: Sequence[Key] = ()
    """Those by which a later call can refer to this one."""
    needed: Sequence[Key] = ()
    """Those of the earlier calls that this one refers to, the surest first."""
    has_ids: bool = False
    """Whether it refers to earlier calls by ids. Texts alone may be examples in a prompt."""
    turn: Sequence[Key] = ()
    """Those by which a later turn of the session can refer to the answer, if it ends a turn."""
    turns_before: Sequence[Key] = ()
    """Those of the answers of earlier turns, if the call begins or continues a later one."""


class _History(NamedTuple):
    """The messages that a model call was sent."""

    state: Key
    """The hash of all of them."""
    needed: list[Key]
    """The keys of the calls that they refer to."""
    has_ids: bool
    """Whether those of the last turn have ids of tool calls."""
    turns_before: list[Key]
    """The keys of the answers of earlier turns, the last one first."""


def keys_of(node: Node) -> Keys:
    """Return the keys of a model call or a tool execution."""
    operation = node.operation
    if isinstance(operation, (ToolExecution, McpRequest)):
        call_id = operation.call_id
        if call_id is None:
            return Keys()
        name = operation.name if isinstance(operation, ToolExecution) else operation.tool_name
        needed = [stable_hash("call", call_id, name), stable_hash("requested", call_id)]
        return Keys(needed=needed, has_ids=True)
    if not isinstance(operation, Inference):
        return Keys()
    if is_details(node) and operation.response_id is not None:
        return Keys(needed=[stable_hash("response", operation.response_id)])
    attempt = node.span.attributes.get(agentool.ATTEMPT_OF)
    state, repeated, has_ids, turns_before = _history(operation.input or ())
    needed = []
    offered: list[Key] = []
    turn: list[Key] = []
    if isinstance(attempt, str):
        needed.append(stable_hash("attempt", attempt))
    elif operation.error_type is not None:
        offered.append(stable_hash("attempt", node.span.span_id))
    if operation.previous_response_id is not None:
        response = stable_hash("response", operation.previous_response_id)
        (turns_before if _asks(operation.input or ()) else needed).append(response)
    needed += repeated
    if operation.response_id is not None:
        turn.append(stable_hash("response", operation.response_id))
        offered += turn
        # One SDK may record the messages, and another, in a trace of its own, only the call.
        has_content = operation.input or operation.output
        (offered if has_content else needed).append(stable_hash("told", operation.response_id))
    for message in operation.output or ():
        offered += _offered(state, message)
        if not _requests(message):
            turn.append(_folded(state, message)[0])
    for call_id in ids_on(node, agentool.CALLS_REQUESTED):
        offered += [stable_hash("requested", call_id), stable_hash("id", call_id)]
    answered = [stable_hash("id", call_id) for call_id in ids_on(node, agentool.CALLS_ANSWERED)]
    has_ids = has_ids or bool(answered) or operation.previous_response_id is not None
    return Keys(offered, needed + answered, has_ids, turn, turns_before)


def ids_on(node: Node, attribute: str) -> list[str]:
    """Return the ids of tool calls in an attribute of a model call whose content is off."""
    ids = node.span.attributes.get(attribute)
    return [value for value in ids if isinstance(value, str)] if isinstance(ids, list) else []


def _history(messages: Sequence[Message]) -> _History:
    state = 0
    states: list[Key] = []
    requests: list[Key] = []
    """The tool calls of the last turn, which this call answers."""
    answer: tuple[Key, Message, list[Key]] | None = None
    """The last answer in it, with the state before and its calls."""
    since: list[Message] = []
    has_ids = False
    turns_before: list[Key] = []
    for message in messages:
        before = state
        if answer is not None and _is_question(message) and _is_answered(answer[1], since):
            turns_before = states[: -_STATES - 1 : -1]
            states, requests, answer, since, has_ids = [], [], None, [], False
        state, calls = _folded(before, message)
        has_ids = has_ids or bool(calls)
        if role_of(message) == "assistant":
            states.append(state)
            answer, requests, since = (before, message, calls), [*calls], []
        else:
            requests += calls
            since.append(message)
    results = [key for message in since for key in _ids(message, "tool_call_response")]
    alike = _folded_alone(*answer) if answer is not None else []
    needed = [*states[: -_STATES - 1 : -1], *(requests or results), *alike]
    return _History(state, needed, has_ids or bool(results), turns_before)


def turns_in(messages: Sequence[Message]) -> list[dict[str, str]]:
    """Return the turns of a history that are over, as texts: `input` and `output`."""
    turns: list[dict[str, str]] = []
    questions: list[str] = []
    answer: Message | None = None
    since: list[Message] = []
    for message in messages:
        if answer is not None and _is_question(message) and _is_answered(answer, since):
            turns.append({"input": "\n".join(questions), "output": text_of(answer) or ""})
            questions, answer, since = [], None, []
        if role_of(message) == "assistant":
            answer, since = message, []
            continue
        since.append(message)
        if _is_question(message) and (text := text_of(message)):
            questions.append(text)
    return turns


def _is_question(message: Message) -> bool:
    """Return whether a message is one of the user, and no result of a tool in the user's role."""
    return role_of(message) == "user" and not _has_results([message])


def _is_answered(answer: Message, since: Sequence[Message]) -> bool:
    """Return whether an answer ended its turn: neither it nor what follows it is about tools."""
    return not _requests(answer) and not _has_results(since)


def _asks(messages: Sequence[Message]) -> bool:
    """Return whether messages sent after a response are a question, and no results of tools."""
    return any(map(_is_question, messages)) and not _has_results(messages)


def _has_results(messages: Sequence[Message]) -> bool:
    parts = (part for message in messages for part in parts_of(message))
    return any(part.get("type") == "tool_call_response" for part in parts)


def _requests(message: Message) -> bool:
    return any(part.get("type") == "tool_call" for part in parts_of(message))


def _offered(state: Key, message: Message) -> list[Key]:
    """Return the keys that a message of the output offers after a history."""
    after, calls = _folded(state, message)
    ids = _ids(message, "tool_call")
    return [after, *calls, *ids, *_folded_alone(state, message, calls)]


def _folded_alone(state: Key, message: Message, calls: list[Key]) -> list[Key]:
    """Fold the text alone, and calls without ids alone, of a message that has calls.

    Several tracers leave the calls out of the history, or out of the answer. Others have the
    thoughts in the history, as text, and not in the answer; then calls without ids identify the
    answer.
    """
    alone = _only(state, message, "text")
    return alone if calls else alone + _only(state, message, "tool_call")


def _only(state: Key, message: Message, kind: str) -> list[Key]:
    """Fold the parts of one type alone, of a message that has tool calls."""
    parts = parts_of(message)
    of_kind = [{**part, "id": None} for part in parts if part.get("type") == kind]
    if not of_kind or all(part.get("type") != "tool_call" for part in parts):
        return []
    return [_folded(state, {"role": role_of(message), "parts": of_kind})[0]]


def _ids(message: Message, kind: str) -> list[Key]:
    """Return keys by the call ids alone: results do not name tools, and with the responses API the
    calls stay on the server."""
    parts = enumerate(parts_of(message))
    ids = [call_id_of(part, place) for place, part in parts if part.get("type") == kind]
    return [stable_hash("id", call_id) for call_id in ids if call_id is not None]


def _folded(state: Key, message: Message) -> tuple[Key, list[Key]]:
    """Fold a message into the hash of a history, and return the keys of the tool calls in it.

    Role, text and tool calls count; the rest may differ between an answer and its repetition by the
    next call.
    """
    content: str | None = None
    calls: list[str] = []
    keys: list[Key] = []
    for place, part in enumerate(parts_of(message)):
        kind = part.get("type")
        if kind == "text":
            text = part.get("content")
            if isinstance(text, str):
                content = text if content is None else f"{content}\n{text}"
        elif kind in ("tool_call", "tool_call_response"):
            name, arguments = part.get("name"), part.get("arguments")
            call_id = call_id_of(part, place)
            if kind == "tool_call" and call_id is not None:
                keys.append(stable_hash("call", call_id, name))
            calls += (str(call_id), str(name), arguments_text(arguments))
    return stable_hash(state, role_of(message), content, *calls), keys
