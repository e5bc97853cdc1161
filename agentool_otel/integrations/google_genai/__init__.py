"""Google's Gen AI SDK."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Google Gen AI SDK", patches=("google.genai",))
