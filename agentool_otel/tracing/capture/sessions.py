"""`session`: one conversation and one user for everything below."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from opentelemetry.context import attach, get_current

from agentool_otel.tracing.capture._sync_async import BothWays
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["UserSession", "session"]


class UserSession(BothWays):
    """A block whose spans belong to one conversation and one user; `with` or `async with`."""

    __slots__ = ("_names", "_tokens")

    def __init__(self, session_id: str | None, user_id: str | None):
        self._names: dict[str, str] = {}
        self._tokens: list[Any] = []
        with guarded("reading the names of a session"):
            self._names = names_of(session_id, user_id)

    def __enter__(self) -> UserSession:
        with guarded("entering a session"):
            self._tokens.append(attach(identify(get_current(), self._names)))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with guarded("leaving a session"):
            if self._tokens:
                restore(self._tokens.pop())


def session(session_id: str | None = None, *, user_id: str | None = None) -> UserSession:
    """Set conversation and user for a block of code, such as the handling of a request.

    Every span that begins inside the block has both ids, runs and single model calls alike, in all
    tasks and threads that the context is carried to. A nested run or session with ids of its own
    overrides them for everything below it; ids that it does not set stay.

    Args:
        session_id: the conversation: `gen_ai.conversation.id`.
        user_id: the user, by an id that may be stored: `user.id`.

    Returns:
        A context manager, `with` or `async with`. Make a new one for each block.
    """
    return UserSession(session_id, user_id)
