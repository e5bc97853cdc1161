"""Servers of traces: Jaeger and Tempo, one file each, over one HTTP client."""
