"""Fragola SDK."""
