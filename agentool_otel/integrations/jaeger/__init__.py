"""Jaeger: its query service, and its JSON."""
