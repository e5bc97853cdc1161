"""AutoGen."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "AutoGen",
    libraries=(
        # 0.7.5, autogen_core/_telemetry: AUTOGEN_DISABLE_RUNTIME_TRACING is for messages alone
        Library("autogen-agentchat", "on", None, "openinference-instrumentation-autogen-agentchat"),
    ),
)
