"""Ids of tool calls that models have requested, for the spans that execute the calls.

A decorated function and an MCP client know a call by its name and arguments, not by the id that
the model gave it. An `Answer` holds the calls that one answer of a model requests. The span of a
tool takes the id of the request that it executes:

1. with equal arguments, equal requests of one answer in their order;
2. with the requested arguments among others (defaults, a handle), or as the one value of a
   parameter (a dict, a model);
3. with the same name, if that name is requested once.

Where several different requests fit, none is taken. Only hashes of the arguments are kept.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, NamedTuple

from agentool_otel.model.evidence import Fingerprint, fingerprint, is_contained, is_equal
from agentool_otel.model.messages import Message, parts_of, role_of

__all__ = [
    "Answer",
    "Call",
    "answered_ids",
    "await_results",
    "awaits_results",
    "call_of",
    "calls_in",
    "current_answers",
    "note_answer",
    "open_answers",
    "retire",
    "take",
]

_MOST_CALLS = 256
"""Limit of the calls that are kept of one answer; models request fewer."""
_MOST_ANSWERS = 16
"""Limit of the answers that a context keeps."""
_MOST_RECENT = 64
"""Limit of the answers that the process keeps for tools that run in another context."""


class Call(NamedTuple):
    """One requested call."""

    name: str
    id: str
    evidence: Fingerprint
    """The hashes of its arguments."""


class Answer:
    """The tool calls that one answer of a model requests.

    Args:
        calls: in the order of the answer.
        parent_id: span id of the parent of the model call; 0 for a call without a parent.
    """

    __slots__ = ("_names", "parent_id", "pending")

    def __init__(self, calls: Iterable[Call], parent_id: int = 0):
        self.pending = deque(calls, maxlen=_MOST_CALLS)
        """Calls that no span has executed yet."""
        self.parent_id = parent_id
        self._names = [call.name for call in self.pending]

    def requests_once(self, name: str) -> bool:
        """Return whether the answer requests exactly one call of this name."""
        return self._names.count(name) == 1


_MOST_AWAITED = 1024
"""Limit of the ids whose results are awaited."""


_answers: ContextVar[tuple[Answer, ...]] = ContextVar("agentool-otel-answers", default=())
open_answers: deque[Answer] = deque(maxlen=_MOST_RECENT)
"""The last answers of this process that request a call which no span has executed."""
_awaited: deque[str] = deque(maxlen=_MOST_AWAITED)
"""Ids of calls that a model has requested without a run around it and with content off."""


def calls_in(output: Iterable[Message] | None) -> list[Call]:
    """Return the tool calls in the output of a model that have an id."""
    return [
        call_of(str(part.get("name")), part["id"], part.get("arguments"))
        for message in output or ()
        for part in parts_of(message)
        if part.get("type") == "tool_call" and isinstance(part.get("id"), str)
    ]


def note_answer(calls: Sequence[Call], parent_id: int) -> Answer | None:
    """Keep the calls that a model has just requested, for the tools that execute them.

    Args:
        calls: as `calls_in` returns them; None is returned for none.
        parent_id: span id of the parent of the model call; 0 for a call without a parent.
    """
    if not calls:
        return None
    answer = Answer(calls, parent_id)
    earlier = tuple(answer for answer in _answers.get() if answer.pending)
    _answers.set((answer, *earlier[: _MOST_ANSWERS - 1]))
    open_answers.append(answer)
    return answer


def await_results(ids: Iterable[str]) -> None:
    """Expect the results of calls in the input of a later model call."""
    _awaited.extend(ids)


def awaits_results() -> bool:
    """Return whether the results of any call are expected."""
    return bool(_awaited)


def answered_ids(input: Sequence[Message] | None) -> list[str]:
    """Return the ids of expected results in the last turn of the input of a model call."""
    ids: list[str] = []
    for message in reversed(input or ()):
        if role_of(message) == "assistant":
            break
        ids += [
            part["id"]
            for part in parts_of(message)
            if part.get("type") == "tool_call_response" and part.get("id") in _awaited
        ]
    for each in ids:
        with suppress(ValueError):  # another thread was faster
            _awaited.remove(each)
    return ids


def current_answers(parent_id: int) -> list[Answer]:
    """Return the answers that a tool may execute: of this context, those of model calls with the
    parent of the tool if there are any.

    Args:
        parent_id: span id of the parent of the tool's span; 0 for a tool without a parent.
    """
    pending = [answer for answer in _answers.get() if answer.pending]
    return [item for item in pending if item.parent_id == parent_id] or pending


def take(
    answers: Iterable[Answer], name: str, arguments: Callable[[], Any], parent_id: int = 0
) -> str | None:
    """Return the id under which a model requested a call; None if no request or several fit.

    A request is taken once. Answers of other contexts are searched where these have no request
    with such arguments, because the model or the tool may run in a thread or a task of its own.

    Args:
        answers: of the context or the run of the tool.
        name: of the tool.
        arguments: returns them as JSON; called where a call of this name is requested.
        parent_id: span id of the parent of the tool's span; 0 for a tool without a parent.
    """
    candidates = _pending(answers, name)
    anywhere = _near(_pending(open_answers, name), parent_id)
    if not candidates and not anywhere:
        return None
    try:
        executed = call_of(name, "", arguments())
    except ValueError:  # what an encoder of the user's has made is no JSON
        return None
    for pending in (candidates, anywhere):
        for fits in (is_equal, is_contained):
            match = _only([item for item in pending if fits(item[1].evidence, executed.evidence)])
            if match is not None:
                return _taken(*match)
    by_name = candidates or anywhere
    if len(by_name) == 1 and by_name[0][0].requests_once(name):
        return _taken(*by_name[0])
    return None


def retire(answers: Iterable[Answer], call_id: str) -> None:
    """Drop the request that a span executes whose id is known without it.

    Args:
        answers: of the context or the run of the tool.
        call_id: of the request; nothing happens where no answer requests it.
    """
    for answer in (*answers, *open_answers):
        for call in tuple(answer.pending):
            if call.id == call_id:
                _taken(answer, call)
                return


_Found = tuple[Answer, Call]


def _pending(answers: Iterable[Answer], name: str) -> list[_Found]:
    pairs = [(answer, call) for answer in tuple(answers) for call in tuple(answer.pending)]
    return [item for item in pairs if item[1].name == name]


def _near(pairs: list[_Found], parent_id: int) -> list[_Found]:
    """Return the requests of model calls with this parent, or all if there are none."""
    return [item for item in pairs if item[0].parent_id == parent_id] or pairs


def _only(pairs: list[_Found]) -> _Found | None:
    """Return the first of equal requests of one answer; None if answers or arguments differ."""
    if len({(id(answer), call.evidence.arguments) for answer, call in pairs}) != 1:
        return None
    return pairs[0]


def _taken(answer: Answer, call: Call) -> str | None:
    with suppress(ValueError):  # another thread was faster
        answer.pending.remove(call)
        if not answer.pending:
            with suppress(ValueError):
                open_answers.remove(answer)
        return call.id
    return None


def call_of(name: str, call_id: str, arguments: Any) -> Call:
    """Return a requested call.

    Args:
        name: of the tool.
        call_id: that the model gave it.
        arguments: as JSON.
    """
    return Call(name, call_id, fingerprint(arguments))
