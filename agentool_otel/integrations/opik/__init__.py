"""Comet Opik."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Opik", tracers=("opik",))
