"""Names of the OpenTelemetry MCP conventions, baseline 2026-10.

Spec: github.com/open-telemetry/semantic-conventions-genai, `model/mcp`.
"""

METHOD_NAME = "mcp.method.name"
SESSION_ID = "mcp.session.id"
RESOURCE_URI = "mcp.resource.uri"
PROTOCOL_VERSION = "mcp.protocol.version"

# The values of METHOD_NAME that carry a name or an address in their parameters
METHOD_TOOLS_CALL = "tools/call"
METHOD_PROMPTS_GET = "prompts/get"
METHOD_RESOURCES_READ = "resources/read"

ERROR_TYPE_TOOL = "tool_error"
"""`error.type` of a tool result that is marked as an error."""

METRIC_CLIENT_OPERATION_DURATION = "mcp.client.operation.duration"
METRIC_SERVER_OPERATION_DURATION = "mcp.server.operation.duration"
METRIC_CLIENT_SESSION_DURATION = "mcp.client.session.duration"
METRIC_SERVER_SESSION_DURATION = "mcp.server.session.duration"
