"""The Model Context Protocol: the Python SDK's clients and servers.

propagation   trace context in `params._meta`
client        requests that a session sends
server        requests that a server handles
patches       the patches, by major version of the SDK

The span of a request is in `tracing.instrumentation.mcp_requests`, which other frameworks use too.
"""
