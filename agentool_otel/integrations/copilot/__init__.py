"""GitHub Copilot CLI, and Copilot Chat in VS Code."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("GitHub Copilot", own_units=("github-copilot",))
