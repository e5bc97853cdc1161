"""Sentry."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Sentry", tracers=("sentry-sdk",))
