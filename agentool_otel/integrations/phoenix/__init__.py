"""Arize Phoenix."""

from agentool_otel.ground.integrations import Integration, Page

INTEGRATION = Integration(
    "Phoenix",
    tracers=("arize-*",),
    page=Page("Phoenix", 6006, "/", "<title>Phoenix</title>", takes_spans=True),
)
