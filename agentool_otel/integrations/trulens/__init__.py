"""TruLens: its spans, and its event table."""
