"""VoltAgent."""
