"""Flue."""
