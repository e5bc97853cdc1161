"""Google Cloud Trace."""
