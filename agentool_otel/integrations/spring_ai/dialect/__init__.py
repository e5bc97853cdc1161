"""Spring AI, and the content in its logs."""
