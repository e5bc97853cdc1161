"""Sentry."""
