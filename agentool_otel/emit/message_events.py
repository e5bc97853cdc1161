"""Messages of model calls as log records, one each, in a generation that has them nowhere else.

Emitted whenever content is captured, in the context of the call's span and before it ends: what was
asked when that is known, what was answered at the end. Where nobody takes log records messages stay
on the span, under names of ours.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from agentool_otel.emit import events
from agentool_otel.emit.session import guarded, session
from agentool_otel.semconv import gen_ai

__all__ = ["tell"]

_ASKED = (gen_ai.SYSTEM_INSTRUCTIONS, gen_ai.INPUT_MESSAGES)


def tell(
    span: trace.Span,
    context: Context,
    attributes: dict[str, Any],
    cut: Collection[str],
    start_ns: int,
    end_ns: int,
) -> set[str]:
    """Emit the messages among the attributes of a model call, and take those off them.

    Args:
        span: the span of the call.
        context: its context.
        attributes: under the baseline's names, fitted and masked; changed in place.
        cut: names of those that were shortened: they stay, with the note of where they are whole.
        start_ns: when the call began, and its input was said.
        end_ns: when the call ends, or now.

    Returns:
        The names of the attributes that were told of.
    """
    told: set[str] = set()
    scope = events.scope_of(span)
    with guarded("emitting the messages of a model call"):
        if not events.taken(scope):
            return told
        about = {key: attributes[key] for key in (gen_ai.PROVIDER_NAME,) if key in attributes}
        about = session.dialect.named(about)
        for key in (*_ASKED, gen_ai.OUTPUT_MESSAGES):
            text = attributes.get(key)
            if not isinstance(text, str) or key in cut:
                continue
            at_ns = start_ns if key in _ASKED else end_ns
            for name, body in session.dialect.message_events(key, text):
                said, whole = events.Masked(about), events.Masked(body)
                events.emit(name, said, context, scope=scope, time_ns=at_ns, body=whole)
                told.add(key)
    for key in told:
        del attributes[key]
    return told
