"""Hostile input by the thousand: `python -m tests.security.fuzz [SECONDS] [SEED]`."""
