"""AutoGen."""
