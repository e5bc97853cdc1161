"""LlamaIndex."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "LlamaIndex",
    libraries=(
        # 0.14.25
        Library("llama-index-core", "none", None, "openinference-instrumentation-llama-index"),
    ),
    patches=("llama_index", "llama_index_instrumentation"),
)
