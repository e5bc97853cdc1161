"""Arize Phoenix."""
