"""Agent Development Kit: runs, agents, handoffs, tools, memory, and model calls of any model."""
