"""deepset's Haystack."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Haystack",
    libraries=(
        # 3.4.0, docs.haystack.deepset.ai/docs/tracing
        Library(
            "haystack-ai",
            "off",
            "haystack.tracing.enable_tracing(OpenTelemetryTracer(...)) turns them on",
            "openinference-instrumentation-haystack",
        ),
    ),
)
