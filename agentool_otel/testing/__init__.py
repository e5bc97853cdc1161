"""Helpers for tests, examples and demos of agents, ours and yours. Nothing is imported until used.

conformance      comparing spans with the GenAI conventions
captured         runs of a test's block as traces
loopback_model   a model server on this machine: no key, no network, deterministic
turns            the answers of that model, scripted or made up
"""
