"""AgentOps."""
