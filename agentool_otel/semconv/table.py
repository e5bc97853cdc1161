"""The versioned table: type, place and earlier names of every attribute.

Data only, hand-written because the conventions have no release to generate it from; the baseline
is `gen_ai.BASELINE`. `testing.conformance` checks spans against it, the `gen_ai` dialect reads the
generations, metrics are made from it and the docs list it.
"""

from agentool_otel.semconv._attributes import (
    AT_START,
    ATTRIBUTES,
    CONTENT,
    EVENTS,
    PREFIXES,
    RESERVED,
    Attribute,
)
from agentool_otel.semconv._generations import (
    GENERATIONS,
    NAMED_BY_US,
    OURS,
    RENAMES,
    STRUCTURAL,
    Generation,
    Rename,
    generation,
)
from agentool_otel.semconv._metrics import METRICS, Metric
from agentool_otel.semconv._shapes import SHAPES, Schema
from agentool_otel.semconv._span_types import SPAN_TYPES, SpanType

__all__ = [
    "ATTRIBUTES",
    "AT_START",
    "CONTENT",
    "EVENTS",
    "GENERATIONS",
    "METRICS",
    "NAMED_BY_US",
    "OURS",
    "PREFIXES",
    "RENAMES",
    "RESERVED",
    "SHAPES",
    "SPAN_TYPES",
    "STRUCTURAL",
    "Attribute",
    "Generation",
    "Metric",
    "Rename",
    "Schema",
    "SpanType",
    "generation",
]
