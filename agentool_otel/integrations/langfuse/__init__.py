"""Langfuse: spans of its SDK, and its exports."""

from agentool_otel.ground.integrations import Integration, Page

INTEGRATION = Integration(
    "Langfuse",
    tracers=("langfuse",),
    page=Page("Langfuse", 3000, "/", "<title>Langfuse", takes_spans=True, below="/api/public/otel"),
)
