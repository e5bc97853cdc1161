"""OpenLLMetry (Traceloop)."""
