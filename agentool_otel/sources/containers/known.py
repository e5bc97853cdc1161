"""The shapes that are known, in the order in which they are asked."""

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
from agentool_otel.sources.containers.container import Container, Object

__all__ = ["CONTAINERS", "recognise"]

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
