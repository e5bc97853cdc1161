"""Helpers for tests, examples and demos of agents, ours and yours. Nothing is imported until used.

conformance      comparing spans with the GenAI conventions
captured         what a block of a test runs, as trajectories
loopback_model   a model server on this machine: no key, no network, deterministic
turns            what that model says, scripted or made up
"""
