"""Pydantic AI."""
