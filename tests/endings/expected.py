"""What each end has to look like, and the cells that differ, with the reason.

Source of the table: docs/guides/endings.md.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.endings.apis import Api
from tests.endings.table import Cell

__all__ = ["Expected", "expected", "seen"]

EXCEPTION = "the exception that the program sees"
INCOMPLETE = "incomplete_stream"


class Expected(NamedTuple):
    """The part of a cell that is the same for every API."""

    finish_reasons: tuple[str, ...]
    error: str | None
    is_left: bool
    status: str
    end: str | None
    finished: bool | None


_FILTERED = Expected(("content_filter",), None, False, "refusal", "filtered", False)
_BROKEN = Expected((), EXCEPTION, False, "error", "broken_off", False)
_LEFT = Expected((), None, True, "in_progress", "left", None)

_ENDS: dict[str, Expected] = {
    "whole": Expected(("stop",), None, False, "success", None, True),
    "limit": Expected(("length",), None, False, "success", "cut", False),
    "filter": _FILTERED,
    "refusal": _FILTERED,
    "refused request": Expected((), EXCEPTION, False, "error", None, False),
    "ended early": _BROKEN._replace(error=INCOMPLETE),
    "connection dropped": _BROKEN,
    "error event": _BROKEN,
    "closed": _LEFT,
    "raised": _BROKEN,
    "cancelled": _BROKEN._replace(end="left", finished=None),
}

_AGENTS = (
    *("langgraph agent", "pydantic-ai agent", "openai-agents run", "adk run"),
    *("agent-spec agent", "crewai crew", "llama-index agent"),
)
_GRAPHS = ("langgraph agent", "agent-spec agent")
_CLI = "claude-agent-sdk query"
_NO_BLOCK = "its stream has no `with` block, and cannot see why the program has left it"
_WITHOUT_BLOCK = (
    *("google-genai", "bedrock converse", "litellm", "langchain model"),
    *("llama-index model", "llama-index openai-like"),
)
_LOST = "the library drops the refusal of a stream, which the program does not see either"
_NO_ANSWER_YET = "the framework keeps no part of the answer"
_RAISES = "the framework raises an exception"
_THREAD = "the crew has a thread, and `close()` waits for its end"
_ASKS_AGAIN = "the CLI asks again without a stream, and gets a whole answer"
_REPORTS = "the CLI reports an error of its own"

Reason = str
_OTHERWISE: dict[tuple[str, str], tuple[Expected, Reason]] = {
    **{(name, "raised"): (_LEFT, _NO_BLOCK) for name in _WITHOUT_BLOCK},
    **{
        (name, end): (
            _FILTERED._replace(status="success"),
            "the agent has ended well; the answer is marked",
        )
        for name in _AGENTS
        for end in ("filter", "refusal")
    },
    **{
        (name, "refusal"): (_ENDS["whole"], _LOST)
        for name in (
            "litellm stream",
            "litellm async stream",
            "langchain model stream",
            "langchain model async stream",
            "langgraph agent stream",
            "langgraph agent async stream",
        )
    },
    ("openai responses", "error event"): (
        _BROKEN._replace(finish_reasons=("error",), error="server_error"),
        "the event is the last one, and has the status `failed`",
    ),
    **{
        (name, end): (_BROKEN._replace(end=None), _NO_ANSWER_YET)
        for name in _GRAPHS
        for end in ("connection dropped", "error event")
    },
    **{
        (name, "cancelled"): (_ENDS["cancelled"]._replace(finished=False), _NO_ANSWER_YET)
        for name in _GRAPHS
    },
    ("bedrock converse", "error event"): (
        _BROKEN._replace(error=INCOMPLETE),
        "botocore takes the event for the end of the stream",
    ),
    **{
        (f"{name} stream", end): (
            _ENDS["whole"],
            "the graph runs ahead of its reader, and had ended",
        )
        for name in _GRAPHS
        for end in ("closed", "raised")
    },
    **{
        (f"{name} async stream", end): (
            _LEFT._replace(error="CancelledError", is_left=False),
            "LangGraph cancels the node, and its stream has no `with` block",
        )
        for name in _GRAPHS
        for end in ("closed", "raised")
    },
    ("litellm", "ended early"): (_BROKEN, "LiteLLM raises an exception of its own"),
    **{
        ("adk run", end): (
            _LEFT._replace(error="CancelledError", is_left=False),
            "ADK cancels the request, and its stream has no `with` block",
        )
        for end in ("closed", "raised")
    },
    **{
        (name, "refusal"): (_FILTERED._replace(status="error"), _RAISES)
        for name in (
            *("pydantic-ai agent", "openai-agents run", "crewai crew"),
            "agent-spec agent whole",
        )
    },
    **{
        (f"agent-spec agent {kind}", "refusal"): (
            _ENDS["whole"]._replace(status="error", finished=False),
            f"{_LOST}; pyagentspec raises an exception for an empty answer",
        )
        for kind in ("stream", "async stream")
    },
    ("pydantic-ai agent", "raised"): (
        _LEFT._replace(status="error", finished=False),
        "the run has the exception; pydantic-ai has closed the request before",
    ),
    ("openai-agents run", "closed"): (
        _ENDS["whole"],
        "the run goes on without its reader, and had ended",
    ),
    ("openai-agents run", "raised"): (
        _LEFT._replace(error="CancelledError", is_left=False, status="error"),
        "the SDK cancels the run when the program ends",
    ),
    ("openai-agents run", "cancelled"): (
        _ENDS["cancelled"]._replace(status="in_progress"),
        "the reader is cancelled, not the run",
    ),
    ("llama-index agent", "closed"): (
        _LEFT._replace(error="CancelledError", is_left=False),
        "`cancel_run()` cancels the request",
    ),
    ("llama-index agent", "raised"): (
        _LEFT._replace(error="CancelledError", is_left=False, status="error"),
        "the event loop cancels the run when the program ends",
    ),
    **{("crewai crew stream", end): (_ENDS["whole"], _THREAD) for end in ("closed", "raised")},
    **{
        ("crewai crew async stream", end): (
            _ENDS["whole"]._replace(status="error", finished=False),
            "CrewAI cancels the crew, but not the thread that reads the model's answer",
        )
        for end in ("closed", "raised", "cancelled")
    },
    (_CLI, "limit"): (
        _ENDS["limit"]._replace(status="error"),
        f"after some more requests {_REPORTS}",
    ),
    **{
        (_CLI, end): (_FILTERED._replace(status="error"), _REPORTS) for end in ("filter", "refusal")
    },
    (_CLI, "refused request"): (
        _ENDS["refused request"]._replace(error="invalid_request_error"),
        _REPORTS,
    ),
    (_CLI, "connection dropped"): (
        _BROKEN._replace(error=INCOMPLETE),
        "the CLI ends the message, and reports an error after it",
    ),
    **{
        (_CLI, end): (
            _ENDS["whole"]._replace(end="broken_off", finished=False),
            _ASKS_AGAIN,
        )
        for end in ("ended early", "error event")
    },
    (_CLI, "raised"): (_LEFT, "`query()` leaves the close of its inner iterator to the event loop"),
}


def expected(api: Api, end: str) -> Expected:
    """Return what a cell has to look like."""
    for name in (f"{api.name} {api.kind}", api.name):
        if (name, end) in _OTHERWISE:
            return _OTHERWISE[name, end][0]
    return _ENDS[end]


def seen(cell: Cell) -> Expected:
    """Return the same part of a cell that was recorded."""
    error = cell.error_type
    if error is not None:
        last = error.rpartition(".")[2]
        error = EXCEPTION if last == cell.raised else last
    return Expected(
        cell.finish_reasons,
        error,
        cell.interrupted in ("closed", "abandoned"),
        str(cell.status),
        cell.end,
        cell.finished,
    )
