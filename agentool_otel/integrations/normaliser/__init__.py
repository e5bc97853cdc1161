"""The processor of the Collector that reduces names to those of the conventions."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Genai normaliser")
