"""Weights & Biases Weave."""
