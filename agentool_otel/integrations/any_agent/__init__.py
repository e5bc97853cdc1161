"""Mozilla's any-agent and tinyagent."""
