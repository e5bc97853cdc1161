"""OpenAI's Agents SDK."""
