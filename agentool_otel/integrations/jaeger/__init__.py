"""Jaeger: its query service, and its JSON."""

from agentool_otel.ground.integrations import Integration, Page

INTEGRATION = Integration(
    "Jaeger",
    page=Page(
        "Jaeger",
        16686,
        "/api/services",
        '{"data":[',
        of_service="/search?service={service}",
        scheme="jaeger",
    ),
)
