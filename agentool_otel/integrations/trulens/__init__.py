"""TruLens: its spans, and its event table."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("TruLens")
