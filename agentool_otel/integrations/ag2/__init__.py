"""AG2."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "AG2",
    libraries=(
        # 1.2.1, ag2/middleware/builtin/telemetry.py
        Library(
            "ag2", "off", "ag2.middleware.TelemetryMiddleware, given to an agent, turns them on"
        ),
    ),
)
