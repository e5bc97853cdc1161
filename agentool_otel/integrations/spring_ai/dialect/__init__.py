"""Spring AI, and what it logs of content."""
