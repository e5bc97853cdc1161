"""Laminar."""
