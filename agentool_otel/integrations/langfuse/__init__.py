"""Langfuse: spans of its SDK, and its exports."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Langfuse", tracers=("langfuse",))
