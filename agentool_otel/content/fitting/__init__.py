"""Shorten values that are too large for an attribute or a span; store the full text elsewhere."""
