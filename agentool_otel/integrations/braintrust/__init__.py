"""Braintrust."""
