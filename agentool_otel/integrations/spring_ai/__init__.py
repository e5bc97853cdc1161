"""Spring AI."""
