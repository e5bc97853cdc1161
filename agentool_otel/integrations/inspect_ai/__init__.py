"""Inspect and Inspect Scout."""
