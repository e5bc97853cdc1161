"""LiveKit Agents."""
