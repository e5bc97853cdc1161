"""Behaviour of each tracing SDK as a guest: `python -m benchmarks.guest` fills one table, a cell
per behaviour and SDK. See README.md.
"""
