"""Google's Agent Development Kit: its runs, its own spans, and its eval sets."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Agent Development Kit",
    libraries=(
        # 2.13.0, google/adk/telemetry/tracing.py
        Library(
            "adk",
            switch="ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=false keeps content out of its own spans",
        ),
    ),
    patches=("google.adk",),
)
