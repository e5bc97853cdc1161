"""LlamaIndex."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "LlamaIndex",
    libraries=(
        # 0.14.25, with llama-index-observability-otel 0.7
        Library(
            "llama-index", switch="LlamaIndexOpenTelemetry().start_registering() turns them on"
        ),
    ),
    patches=("llama_index", "llama_index_instrumentation"),
)
