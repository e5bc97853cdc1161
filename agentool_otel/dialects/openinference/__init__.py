"""OpenInference, and what its instrumentors of each framework add."""
