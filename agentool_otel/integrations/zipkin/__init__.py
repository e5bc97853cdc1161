"""Zipkin."""
