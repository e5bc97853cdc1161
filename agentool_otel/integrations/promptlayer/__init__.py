"""PromptLayer."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("PromptLayer", tracers=("promptlayer",))
