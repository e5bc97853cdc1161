"""Oracle's Open Agent Specification: agents, flows, tools, evaluations."""
