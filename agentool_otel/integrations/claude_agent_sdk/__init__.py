"""The Claude Agent SDK for Python."""

from agentool_otel.ground.environment import exporter_variable
from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Claude Agent SDK",
    libraries=(
        # 0.2.186, code.claude.com/docs/en/agent-sdk/observability: its child process exports them
        Library(
            "claude-agent-sdk",
            "off",
            "CLAUDE_CODE_ENABLE_TELEMETRY=1 with CLAUDE_CODE_ENHANCED_TELEMETRY_BETA=1 and "
            f"{exporter_variable('traces')}=otlp makes its child process send them",
            "openinference-instrumentation-claude-agent-sdk",
        ),
    ),
    patches=("claude_agent_sdk",),
)
