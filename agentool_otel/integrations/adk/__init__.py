"""Google's Agent Development Kit: its spans, and its eval sets."""
