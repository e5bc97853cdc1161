"""Spans without their duplicates: times, kind and parent as attributes, for our own reader."""

from __future__ import annotations

import copy

from opentelemetry.sdk.trace import ReadableSpan

from agentool_otel.semconv import agentool

__all__ = ["without_copies"]


def without_copies(span: ReadableSpan) -> ReadableSpan:
    """Return an ended span of ours without the attributes that repeat members of OTLP's span."""
    copied = copy.copy(span)
    attributes = span.attributes or {}
    copied._attributes = {  # the SDK has it so in 1.30 to 1.45
        key: value for key, value in attributes.items() if key not in agentool.COPIES
    }
    return copied
