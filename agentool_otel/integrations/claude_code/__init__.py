"""Claude Code, also as the child process of the Claude Agent SDK."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Claude Code")
