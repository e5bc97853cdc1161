"""LiteLLM."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "LiteLLM",
    libraries=(
        # 1.110.2, docs.litellm.ai/docs/observability/opentelemetry_integration
        Library("litellm", switch='litellm.callbacks = ["otel"] turns them on'),
    ),
    patches=("litellm",),
)
