"""Credentials of other libraries' telemetry, taken out before it leaves."""
