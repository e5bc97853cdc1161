"""Logfire, and the Agents SDK as it records it."""
