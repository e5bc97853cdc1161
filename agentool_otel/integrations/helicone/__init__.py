"""Helicone."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Helicone", tracers=("helicone*",))
