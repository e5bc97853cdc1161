"""Comet Opik."""
