"""Where finished spans go: the local recording, and whatever else an SDK exporter can be.

The modules of this package import the OpenTelemetry SDK, so nothing imports them until spans are
about to be recorded.
"""
