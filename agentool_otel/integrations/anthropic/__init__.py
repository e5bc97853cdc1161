"""Anthropic's client and Messages API."""
