"""Names of the general conventions that GenAI and MCP spans reuse.

Spec: opentelemetry.io/docs/specs/semconv 1.44 (2026-08).
"""

ERROR_TYPE = "error.type"
ERROR_TYPE_OTHER = "_OTHER"
"""Value of `ERROR_TYPE` when the failure has no class of its own."""

SERVER_ADDRESS = "server.address"
SERVER_PORT = "server.port"
CLIENT_ADDRESS = "client.address"
CLIENT_PORT = "client.port"
NETWORK_TRANSPORT = "network.transport"
NETWORK_PROTOCOL_NAME = "network.protocol.name"
NETWORK_PROTOCOL_VERSION = "network.protocol.version"

JSONRPC_REQUEST_ID = "jsonrpc.request.id"
JSONRPC_PROTOCOL_VERSION = "jsonrpc.protocol.version"
RPC_RESPONSE_STATUS_CODE = "rpc.response.status_code"

SERVICE_NAME = "service.name"
SERVICE_VERSION = "service.version"
SERVICE_INSTANCE_ID = "service.instance.id"
SESSION_ID = "session.id"
USER_ID = "user.id"
"""Unique identifier of the user. Spec: attribute registry, user (development)."""

PROCESS_EXIT_CODE = "process.exit.code"
"""Exit code of a process. Spec: attribute registry, process (development)."""

EXCEPTION_EVENT = "exception"
EXCEPTION_TYPE = "exception.type"
EXCEPTION_MESSAGE = "exception.message"
EXCEPTION_STACKTRACE = "exception.stacktrace"
EXCEPTION_ESCAPED = "exception.escaped"
