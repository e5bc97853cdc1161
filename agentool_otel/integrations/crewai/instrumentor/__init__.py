"""CrewAI: crews, flows, agents, tools, memory and knowledge, by the events of its bus."""
