"""Google Cloud Trace."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Google Cloud Trace")
