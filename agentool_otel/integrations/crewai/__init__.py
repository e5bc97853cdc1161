"""CrewAI: crews, flows, agents, tools, memory, knowledge."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("CrewAI", patches=("crewai",))
