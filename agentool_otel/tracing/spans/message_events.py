"""Messages of model calls as log records, one each, in a generation that has them nowhere else.

Emitted whenever content is captured, in the context of the call's span and before it ends: the
input as soon as it is known, the output at the end. Without a consumer of log records messages stay
on the span, under names of ours.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from agentool_otel.semconv import gen_ai
from agentool_otel.tracing.spans import events
from agentool_otel.tracing.spans.settings import guarded, settings

__all__ = ["emit_messages"]

_INPUTS = (gen_ai.SYSTEM_INSTRUCTIONS, gen_ai.INPUT_MESSAGES)


def emit_messages(
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
        start_ns: when the call began, the time of its input.
        end_ns: when the call ends, or now.

    Returns:
        The names of the attributes whose messages were emitted.
    """
    emitted: set[str] = set()
    scope = events.scope_of(span)
    with guarded("emitting the messages of a model call"):
        if not events.is_collected(scope):
            return emitted
        about = {key: attributes[key] for key in (gen_ai.PROVIDER_NAME,) if key in attributes}
        about = settings.dialect.named(about)
        for key in (*_INPUTS, gen_ai.OUTPUT_MESSAGES):
            text = attributes.get(key)
            if not isinstance(text, str) or key in cut:
                continue
            at_ns = start_ns if key in _INPUTS else end_ns
            for name, body in settings.dialect.message_events(key, text):
                events.emit(
                    name,
                    events.Masked(about),
                    context,
                    scope=scope,
                    time_ns=at_ns,
                    body=events.Masked(body),
                )
                emitted.add(key)
    for key in emitted:
        del attributes[key]
    return emitted
