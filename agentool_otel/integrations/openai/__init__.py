"""OpenAI's client, its tools and its messages."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("OpenAI", patches=("openai",))
