"""The Model Context Protocol: the Python SDK's clients and servers.

requests      one request under way, on either side: its span, and what its result says
propagation   trace context in `params._meta`
client        requests that a session sends
server        requests that a server handles
instrumentor  the patches, by major version of the SDK
"""
