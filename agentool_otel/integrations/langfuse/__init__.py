"""Langfuse: spans of its SDK, and its exports."""
