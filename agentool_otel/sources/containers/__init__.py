"""Shapes of JSON object that hold spans: one file per shape, told by its members.

Each file says where a system keeps what a `SpanRecord` has. A system that keeps roles, inputs and
outputs outside attributes gets them back into attributes under the names its own OTLP exporter
uses, listed in its file, so that one dialect reads both.
"""

from __future__ import annotations

from agentool_otel.sources.containers import (
    attribute_map,
    azure_monitor,
    braintrust,
    datadog,
    go_stdout,
    google_cloud,
    jaeger_ui,
    langfuse,
    langsmith,
    mlflow,
    openai_agents,
    opik,
    phoenix,
    rows,
    sentry,
    span_object,
    trulens,
    weave,
    zipkin,
)
from agentool_otel.sources.containers._container import Container, Object

__all__ = ["CONTAINERS", "Container", "recognise"]

CONTAINERS: tuple[Container, ...] = (
    jaeger_ui.CONTAINER,
    langfuse.CONTAINER,
    langsmith.CONTAINER,
    mlflow.CONTAINER,
    trulens.CONTAINER,
    openai_agents.CONTAINER,
    braintrust.CONTAINER,
    opik.CONTAINER,
    weave.CONTAINER,
    datadog.CONTAINER,
    sentry.CONTAINER,
    azure_monitor.CONTAINER,
    google_cloud.CONTAINER,
    zipkin.CONTAINER,
    go_stdout.CONTAINER,
    rows.CONTAINER,
    phoenix.CONTAINER,
    span_object.CONTAINER,
    attribute_map.CONTAINER,
)
"""In order of decision: special ones first, since several are span objects with more to them."""


def recognise(value: Object) -> Container | None:
    """Return the container an object is, None if it is none of them."""
    return next((container for container in CONTAINERS if container.recognises(value)), None)
