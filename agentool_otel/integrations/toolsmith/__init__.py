"""ToolSmith, which tests whether an agent selects the right tool."""
