"""DSPy."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "DSPy",
    libraries=(
        # 3.4.1
        Library("dspy", "none", None, "openinference-instrumentation-dspy"),
    ),
)
