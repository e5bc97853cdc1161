"""OpenInference, and the additions of its instrumentors of each framework."""
