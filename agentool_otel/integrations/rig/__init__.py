"""Rig, in Rust."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Rig")
