"""Where finished spans and log records go: the local recording, an endpoint, any SDK exporter.

The modules of this package import the OpenTelemetry SDK, so nothing imports them until spans are
about to be recorded.
"""
