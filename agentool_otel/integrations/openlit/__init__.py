"""OpenLIT."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("OpenLIT", tracers=("openlit",))
