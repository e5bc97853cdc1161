"""Evidence in the messages of a model call of the calls before it.

A call continues a loop if it sends the results of tool calls that the loop's last answer requested,
if it continues that response, or if its messages contain that answer. Each of these is a `Link`:
what an answer offers and a later call refers to. Links hold hashes and ids, no text.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.messages import Message, Part, parts_of, role_of, text_of
from agentool_otel.model.operations import Inference

__all__ = ["History", "Link", "history_of", "links_of", "requests_in"]

Link = tuple[str, Any]
"""`("call", id)`, `("response", id)` or `("answer", hash)`."""

_ANSWERS = 4
"""Most answers of a history that a call is matched by, the last one first."""


class History(NamedTuple):
    """The messages of one model call."""

    results: Mapping[str, Part]
    """By the id of its call, each result of a tool after the last answer."""
    calls: Sequence[Link]
    """The tool calls in it that have ids."""
    answers: Sequence[Link]
    """Its answers, the last one first."""
    turn: Sequence[Message]
    """The messages of the user since the last answer without tool calls."""
    question: int
    """Hash of the user's last message."""
    first: int
    """Hash of the user's first message."""
    key: int
    """Hash of the whole: equal for two attempts at one call."""
    previous_response_id: str | None

    @property
    def links(self) -> list[list[Link]]:
        """Return what the call refers to, the surest first."""
        ids: list[Link] = [("call", call_id) for call_id in self.results]
        response = self.previous_response_id
        links = [ids, [] if response is None else [("response", response)], [*self.answers[:1]]]
        return [each for each in links if each]

    @property
    def earlier(self) -> list[list[Link]]:
        """Return what the call refers to, also further back: it is in the same session."""
        groups = [*self.links, [*self.calls], *([answer] for answer in self.answers[1:])]
        return [each for each in groups if each]


def history_of(operation: Inference, messages: Sequence[Message]) -> History:
    """Return what the messages of a call prove; of a long history, its end and its beginning."""
    calls: list[Link] = []
    answers: list[Link] = []
    answer: list[Message] = []
    results: dict[str, Part] = {}
    turn: list[Message] = []
    question = 0
    is_answered = False
    for message in _end_of(messages):
        if role_of(message) == "assistant":
            answer.append(message)
            calls += _call_links(message)
            continue
        if answer:
            answers.append(("answer", _hash_of(question, answer)))
            is_answered = not any(map(requests_in, answer))
            answer.clear()
            results.clear()
        if returned := _results(message):
            results.update(returned)
        if not _is_question(message):
            continue
        if is_answered:
            turn.clear()
            is_answered = False
        turn.append(message)
        question = hash(text_of(message))
    if answer:
        answers.append(("answer", _hash_of(question, answer)))
    first = next((hash(text_of(each)) for each in messages if _is_question(each)), 0)
    answers = answers[: -_ANSWERS - 1 : -1]
    return History(
        results=results,
        calls=calls,
        answers=answers,
        turn=turn,
        question=question,
        first=first,
        key=hash((first, question, len(messages), *answers, *results)),
        previous_response_id=operation.previous_response_id,
    )


def _end_of(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages from the question that the first of the last answers is to."""
    answers = 0
    was_answer = False
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        is_answer = role_of(message) == "assistant"
        answers += is_answer and not was_answer
        was_answer = is_answer
        if answers >= _ANSWERS and _is_question(message):
            return messages[place:]
    return messages


def links_of(history: History, operation: Inference) -> list[Link]:
    """Return what the answer to a call offers to later calls."""
    output = operation.output or ()
    links = [link for message in output for link in _call_links(message)]
    if operation.response_id is not None:
        links.append(("response", operation.response_id))
    links += [("answer", _hash_of(history.question, [message])) for message in output]
    if len(output) > 1:
        links.append(("answer", _hash_of(history.question, output)))
    return links


def requests_in(message: Message) -> list[Part]:
    """Return the parts of an answer that request tools of the program."""
    return [part for part in parts_of(message) if part.get("type") == "tool_call"]


def _call_links(answer: Message) -> list[Link]:
    ids = (part.get("id") for part in requests_in(answer))
    return [("call", call_id) for call_id in ids if isinstance(call_id, str) and call_id]


def _hash_of(question: int, answer: Iterable[Message]) -> int:
    """Return the hash of an answer to a question: of its requests, else of its text.

    Programs send the requests without the text, and the text without the white space around it.
    """
    requests: list[str] = []
    texts: list[str] = []
    for message in answer:
        for part in requests_in(message):
            requests += (str(part.get("name")), canonical(part.get("arguments")))
        texts.append((text_of(message) or "").strip())
    return hash((question, *(requests or texts)))


def _results(message: Message) -> dict[str, Part]:
    return {
        part["id"]: part
        for part in parts_of(message)
        if part.get("type") == "tool_call_response" and isinstance(part.get("id"), str)
    }


def _is_question(message: Message) -> bool:
    """Return whether a message is one of the user, and not of results of tools alone."""
    if role_of(message) != "user":
        return False
    parts = parts_of(message)
    return not parts or any(part.get("type") != "tool_call_response" for part in parts)
