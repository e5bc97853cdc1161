"""Amplifier: sessions, their logs, and tools."""
