"""Lilypad."""
