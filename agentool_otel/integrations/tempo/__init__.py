"""Grafana Tempo."""
