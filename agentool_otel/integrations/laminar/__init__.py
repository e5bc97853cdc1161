"""Laminar."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Laminar", tracers=("lmnr",))
