"""The Claude Agent SDK for Python."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Claude Agent SDK", patches=("claude_agent_sdk",))
