"""Spans to an endpoint over OTLP.

otlp        where they go, and in which requests
outbox      spooled as they end, sent by a thread, and sent again where that failed
attempt     one request, over HTTP or gRPC, and what the receiver made of it
deadline    a moment by which an attempt is over
connection  TLS, and the proxy that the environment names
"""
