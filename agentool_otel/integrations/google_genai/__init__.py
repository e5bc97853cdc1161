"""Google's Gen AI SDK."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Google Gen AI SDK",
    libraries=(
        # 3.6.1
        Library("google-genai", "none", None, "openinference-instrumentation-google-genai"),
    ),
    patches=("google.genai",),
)
