"""Mastra."""
