"""Arize Phoenix."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Phoenix", tracers=("arize-*",))
