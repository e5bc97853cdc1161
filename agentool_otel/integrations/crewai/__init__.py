"""CrewAI: crews, flows, agents, tools, memory, knowledge."""
