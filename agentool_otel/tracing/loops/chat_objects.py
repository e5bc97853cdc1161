"""Sessions of the chats that a client keeps as an object: each message sent to it is a turn."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from opentelemetry.context import Context

from agentool_otel.model.session_ids import new_session
from agentool_otel.semconv import agentool
from agentool_otel.tracing.loops.placement import free_parent, has_session
from agentool_otel.tracing.spans.identity import identify

__all__ = ["context_in_chat"]

_lock = threading.RLock()  # reentrant, for signal handlers and finalizers
_sessions: weakref.WeakKeyDictionary[Any, str] = weakref.WeakKeyDictionary()


def context_in_chat(chat: Any) -> Context | None:
    """Return the parent context of a run that answers a message of a chat, with the session of the
    chat. None where something around the run determines its session, or the program names one.
    """
    parent = free_parent()
    if parent is None or has_session(parent):
        return None
    with _lock:
        session = _sessions.setdefault(chat, new_session())
    return identify(parent, {agentool.SESSION_ID: session})
