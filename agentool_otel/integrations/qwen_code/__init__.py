"""Qwen Code."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Qwen Code")
