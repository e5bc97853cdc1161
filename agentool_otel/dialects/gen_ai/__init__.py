"""The OpenTelemetry GenAI conventions, from 1.26 to the present ones."""
