"""The place of the span of a model call or a tool that nothing around it determines.

A call of a client that has no parent, or that of a request to the program, is put into the inferred
run whose loop it continues, or begins one. Below a run, a step of a framework, or any other span
nothing changes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import time_ns
from typing import Any

from opentelemetry.context import Context, get_current
from opentelemetry.trace import SpanKind

from agentool_otel.model.evidence import Fingerprint, fingerprint
from agentool_otel.model.operations import Inference
from agentool_otel.model.session_ids import new_session
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.loops.ends import end_left, end_loops, forget_loops, watch
from agentool_otel.tracing.loops.history import History, history_of, links_of, requests_in
from agentool_otel.tracing.loops.loop import Loop, begin_loop, failure_of
from agentool_otel.tracing.loops.open_loops import open_loops
from agentool_otel.tracing.spans.identity import IDENTITY_KEY, identify
from agentool_otel.tracing.spans.live import OWNER_KEY, parent_for
from agentool_otel.tracing.spans.run import RUN_KEY
from agentool_otel.tracing.spans.sdk_spans import SPAN_KEY, parent_of
from agentool_otel.tracing.spans.settings import guarded, settings
from agentool_otel.tracing.spans.suppression import BELOW_KEY

__all__ = ["Place", "free_parent", "has_session", "place", "tool_loop"]

_AROUND = (RUN_KEY, OWNER_KEY, BELOW_KEY)
"""Context keys of what records a call already, or has it as a part."""
_REQUESTS = (SpanKind.SERVER, SpanKind.CONSUMER)
_PAUSES = frozenset({"pause_turn"})
"""Finish reasons of answers that the next call continues.

Source: Anthropic's `stop_reason`, 2026-10."""


class Place:
    """The place of one model call."""

    __slots__ = ("_history", "_loop", "_session", "context")

    def __init__(self, context: Context, history: History, session: str | None, loop: Loop | None):
        self.context = context
        """The context of its parent."""
        self._history = history
        self._session = session
        self._loop = loop

    @property
    def input_key(self) -> int:
        """Return the hash of the messages."""
        return self._history.key

    @property
    def in_loop(self) -> bool:
        return self._loop is not None

    def failed(self, error: BaseException) -> None:
        """Note that the call has no span, because an exception has interrupted its beginning."""
        self.ended(Inference(), error, None, None)

    def ended(
        self,
        operation: Inference,
        error: BaseException | None,
        interrupted: str | None,
        end_ns: int | None,
    ) -> None:
        """Note the end of the call, whose span has ended."""
        end_ns = time_ns() if end_ns is None else end_ns
        history, loop, session = self._history, self._loop, self._session
        links = links_of(history, operation)
        if session is not None:
            open_loops.remember(links, session, history.first)
        if loop is None:
            open_loops.note(session)
            return
        failure = failure_of(error, operation.error_type)
        if failure is not None and _may_be_tried_again(error):
            open_loops.wait_for_retry(loop, history.key, failure)
        elif failure is None and interrupted is None and _goes_on(operation):
            loop.answered(operation, links, end_ns)
            open_loops.wait(loop)
        elif open_loops.remove(loop):
            loop.touch(end_ns)
            _end(loop, operation, error, interrupted)
            return
        watch()


def _end(
    loop: Loop, operation: Inference, error: BaseException | None, interrupted: str | None
) -> None:
    """End a loop with its last call."""
    live = loop.root.live
    failure = failure_of(error, operation.error_type) if error is None else None
    loop.end(operation.output, error=error, failure=failure, interrupted=interrupted)
    if live is not None and live.recording and failure is None and error is None:
        settings.last_call = live.span.get_span_context()  # what fails from here on is its failure


def _may_be_tried_again(error: BaseException | None) -> bool:
    """Return whether a program may make a failed call again: not if the program ends."""
    return not isinstance(error, (KeyboardInterrupt, SystemExit, GeneratorExit))


def _goes_on(operation: Inference) -> bool:
    """Return whether a further call continues an answer."""
    if _PAUSES.intersection(operation.finish_reasons or ()):
        return True
    return any(map(requests_in, operation.output or ()))


def place(
    operation: Inference, content: Callable[[], Mapping[str, Any]], *, is_forced: bool = False
) -> Place | None:
    """Return the place of a model call; None where something around it determines that.

    Args:
        operation: the call, without content.
        content: returns its `input` and `tools`, among others.
        is_forced: whether the model can do nothing but fill in the arguments of one function.
    """
    parent = free_parent()
    if parent is None:
        return None
    read = content()
    history = history_of(operation, read.get("input") or ())
    outer_id = parent_of(parent)
    taken = open_loops.take(history, outer_id)
    if taken is not None and taken.is_joined:
        with guarded("recording the tools of an inferred run"):
            taken.loop.add_tools(history.results)
        return Place(taken.loop.inside(parent), history, taken.loop.session, taken.loop)
    session = None
    if operation.conversation_id is None and not has_session(parent):
        session = open_loops.session_of(history) or new_session()
        parent = identify(parent, {agentool.SESSION_ID: session})
    is_bare = is_forced or not read.get("tools")
    loop = None if is_bare else begin_loop(parent, session, outer_id, [*history.turn])
    if taken is not None:
        with guarded("recording the tools of an inferred run"):
            if loop is not None:
                loop.add_tools(history.results, taken.loop)
        end_left(taken.loop, "continued")
    if is_bare:
        return Place(parent, history, session, None)
    if loop is None:
        return None
    settings.on_end = end_loops
    dropped = open_loops.add(loop)
    if dropped is not None:
        end_left(dropped, "dropped")
    return Place(loop.inside(parent), history, session, loop)


def tool_loop(name: str, arguments: Callable[[], Any]) -> Loop | None:
    """Return the loop that requests a tool which begins now; None where something around it
    determines its place, or where that is not certain. The caller calls `open_loops.tool_ended`.

    Args:
        name: of the tool.
        arguments: returns them as JSON.
    """
    parent = free_parent() if len(open_loops) else None
    if parent is None:
        return None

    def executed() -> Fingerprint | None:
        with suppress(ValueError):  # what an encoder of the user's has made is no JSON
            return fingerprint(arguments())
        return None

    return open_loops.of_tool(name, parent_of(parent), executed)


def free_parent() -> Context | None:
    """Return the context of the parent of a call that nothing around it has a place for."""
    if not settings.infer_runs:
        return None
    parent = parent_for(get_current())
    if parent is None or any(parent.get(key) is not None for key in _AROUND):
        return None
    span: Any = parent.get(SPAN_KEY)
    if span is None:
        return parent
    context = span.get_span_context()
    if not context.is_valid or context.is_remote or getattr(span, "kind", None) in _REQUESTS:
        return parent
    return None


def has_session(parent: Context) -> bool:
    """Return whether the program names the session of what happens in a context."""
    names: Any = parent.get(IDENTITY_KEY) or {}
    return gen_ai.CONVERSATION_ID in names


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forget_loops)
