"""Recording calls of the Google Gen AI SDK."""
