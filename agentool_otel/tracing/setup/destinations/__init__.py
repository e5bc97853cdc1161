"""Destinations of spans, log records and metrics: one plan per signal, before anything is changed.

plan     the plan of one signal, and how logs and metrics follow the spans
spans    the plan of spans, and how it takes effect
logs     the same of log records
metrics  the same of the convention's metrics
"""
