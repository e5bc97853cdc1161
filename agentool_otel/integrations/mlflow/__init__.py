"""MLflow Tracing: its spans, and its traces in files."""
