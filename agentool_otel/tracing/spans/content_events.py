"""Content on events beside spans, or instead: the capture modes `SPAN_AND_EVENT` and `EVENT_ONLY`.

Spec: GenAI conventions, events: `gen_ai.client.inference.operation.details` holds what the span of
an inference holds, structured, and is emitted in the span's context just before the span ends. No
event is defined for tools, agents and memory; they get one of ours, of the same kind: content that
the conventions have a name for is structured, what we have a name for is the text that it would be
on the span.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import loads
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import CONTENT, SHAPES
from agentool_otel.tracing.spans import events
from agentool_otel.tracing.spans.settings import guarded, settings

__all__ = ["emit_content"]


def emit_content(
    span: trace.Span,
    context: Context,
    attributes: dict[str, Any],
    time_ns: int,
    inference: bool = False,
    about: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Emit the event of an ending span; take its content off the span where events alone hold it.

    Args:
        span: the span.
        context: its context.
        attributes: those to be set on it, fitted and masked; changed in place.
        time_ns: when the span ends.
        inference: whether it is the span of an inference, for which the conventions have an event.
        about: attributes that the span has already, and the event is to have as well.
    """
    content = CONTENT & attributes.keys()
    inference = inference and gen_ai.EVENT_INFERENCE_DETAILS in settings.dialect.generation.events
    if content or (inference and settings.policy.capture):
        with guarded("emitting the event of an operation"):
            event = {**about} | {
                key: _structured(key, value)
                for key, value in attributes.items()
                if key in content or not key.startswith(_OURS) or key in _ABOUT_CONTENT
            }
            name = agentool.EVENT_DETAILS
            if inference:
                name = gen_ai.EVENT_INFERENCE_DETAILS
            scope = events.scope_of(span)
            event = settings.dialect.named(event)
            events.emit(name, events.Masked(event), context, scope=scope, time_ns=time_ns)
    settings.policy.keep_off(attributes)


_OURS = "agentool."
_ABOUT_CONTENT = frozenset({agentool.CONTENT_SHORTENED, agentool.CONTENT_REDACTED})


_INEXACT = re.compile(r"\d{19}")
"""Integers that may exceed 64 bits, which a structured value cannot carry as they are."""


def _structured(key: str, value: Any) -> Any:
    """Return content as an event is to have it; text where that alone is exact."""
    if key not in SHAPES or not isinstance(value, str) or _INEXACT.search(value):
        return value
    try:
        plain = loads(value)
    except ValueError:  # `redact` has made plain text of it
        return value
    return plain if isinstance(plain, (dict, list)) else value
