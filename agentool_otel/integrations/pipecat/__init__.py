"""Pipecat."""
