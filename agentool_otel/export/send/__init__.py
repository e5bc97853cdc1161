"""Spans to an endpoint over OTLP: where, how, and what waits meanwhile."""
