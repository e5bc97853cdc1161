"""Content on events beside spans, or instead: the capture modes `SPAN_AND_EVENT` and `EVENT_ONLY`.

Spec: GenAI conventions, events: `gen_ai.client.inference.operation.details` holds what the span of
an inference holds, structured, and is emitted in the span's context just before the span ends. No
event is defined for tools, agents and memory; they get one of ours, of the same kind: content that
the conventions have a name for is structured, what we have a name for is the text that it would be
on the span.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from opentelemetry import trace
from opentelemetry.context import Context

from agentool_otel.emit import events
from agentool_otel.emit.session import guarded, session
from agentool_otel.ground.json_codec import loads
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import CONTENT, SHAPES

__all__ = ["tell"]


def tell(
    span: trace.Span,
    context: Context,
    attributes: dict[str, Any],
    time_ns: int,
    inference: bool = False,
    about: Mapping[str, Any] = MappingProxyType({}),
) -> None:
    """Emit what an ending span says, and take its content off it where events alone hold that.

    Args:
        span: the span.
        context: its context.
        attributes: what is to be set on it: fitted and masked; changed in place.
        time_ns: when the span ends.
        inference: whether the event of the conventions is the right one.
        about: what the span has been given before and the event is to say as well.
    """
    content = CONTENT & attributes.keys()
    inference = inference and gen_ai.EVENT_INFERENCE_DETAILS in session.dialect.generation.events
    if content or (inference and session.policy.capture):
        with guarded("emitting the event of an operation"):
            said = {**about} | {
                key: _structured(key, value)
                for key, value in attributes.items()
                if key in content or not key.startswith(_OURS) or key == agentool.CONTENT_SHORTENED
            }
            name = agentool.EVENT_DETAILS
            if inference:
                name = gen_ai.EVENT_INFERENCE_DETAILS
            scope = events.scope_of(span)
            said = session.dialect.named(said)
            events.emit(name, events.Masked(said), context, scope=scope, time_ns=time_ns)
    session.policy.keep_off(attributes)


_OURS = "agentool."


_INEXACT = re.compile(r"\d{19}")
"""What a structured value may not hold as it is: integers of more than 64 bits."""


def _structured(key: str, value: Any) -> Any:
    """Return content as an event is to have it; text where that alone is exact."""
    if key not in SHAPES or not isinstance(value, str) or _INEXACT.search(value):
        return value
    try:
        plain = loads(value)
    except ValueError:  # `redact` has made plain text of it
        return value
    return plain if isinstance(plain, (dict, list)) else value
