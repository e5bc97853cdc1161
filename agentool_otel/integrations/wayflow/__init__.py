"""Oracle's WayFlow."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "WayFlow",
    libraries=(
        # 26.3.1, wayflowcore/agentspec/tracing.py
        Library(
            "wayflowcore",
            "off",
            "register_event_listeners([AgentSpecEventListener()]) around a run hands them to our "
            "instrumentor of pyagentspec, and to its processors",
        ),
    ),
)
