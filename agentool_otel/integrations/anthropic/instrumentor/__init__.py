"""Anthropic's client: its messages API, and the tool runner that is built on it."""
