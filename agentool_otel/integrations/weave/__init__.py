"""Weights & Biases Weave."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Weave", tracers=("weave",))
