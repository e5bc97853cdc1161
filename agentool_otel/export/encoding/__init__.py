"""Ended spans as OTLP: JSON and protobuf."""
