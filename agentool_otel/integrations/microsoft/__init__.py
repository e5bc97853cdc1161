"""Microsoft's Agent Framework, Semantic Kernel and Microsoft.Extensions.AI."""

from agentool_otel.ground.integrations import Integration, Library

INTEGRATION = Integration(
    "Microsoft Agent Framework",
    libraries=(
        # 1.23.0, agent_framework/observability.py
        Library("agent-framework-core", "on", "ENABLE_INSTRUMENTATION=false turns them off"),
        # 1.45.0, semantic_kernel/utils/telemetry
        Library(
            "semantic-kernel",
            "some",
            "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS=true adds those of agents "
            "and models to those of tools",
        ),
    ),
)
