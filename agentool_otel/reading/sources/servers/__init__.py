"""Base of the readers of trace servers, with one HTTP client."""
