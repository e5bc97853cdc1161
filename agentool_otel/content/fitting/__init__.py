"""What is too large for an attribute or a span is shortened, and kept whole elsewhere."""
