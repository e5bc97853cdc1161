"""Datadog LLM Observability."""
