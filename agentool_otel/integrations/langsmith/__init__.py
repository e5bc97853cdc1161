"""LangSmith: spans of its exporter, and its runs."""
