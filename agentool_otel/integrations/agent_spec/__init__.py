"""Oracle's Open Agent Specification: agents, flows, tools, evaluations."""

from agentool_otel.ground.integrations import Integration

INTEGRATION = Integration("Open Agent Specification", patches=("pyagentspec", "wayflowcore"))
