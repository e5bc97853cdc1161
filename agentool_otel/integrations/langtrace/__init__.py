"""Langtrace."""
