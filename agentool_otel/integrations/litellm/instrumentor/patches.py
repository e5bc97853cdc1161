"""LiteLLM: its functions that call a model, also below its router and its proxy.

    completion, acompletion          chat
    text_completion                  text_completion
    responses, aresponses            chat
    anthropic_messages               chat
    embedding, aembedding            embeddings

Streams too. The price that LiteLLM computes is recorded with the call. A router calls these
functions: each of its attempts is a call of its own.

The spans of LiteLLM's own callback (`litellm.callbacks = ["otel"]`) are replaced where the tracer
provider is ours.

Not seen: images, audio, moderation, reranking, batches; `litellm.proxy`'s requests as such.
"""

from __future__ import annotations

from agentool_otel.integrations.litellm.instrumentor.calls import PATCHES
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["LiteLLMInstrumentor"]


class LiteLLMInstrumentor(AgentInstrumentor):
    """Completions, responses, messages and embeddings of any provider; its router and its proxy:
    patches of its functions"""

    framework = "litellm"
    supports = ("litellm >= 1.80",)
    patches = PATCHES
    native_scopes = ("litellm",)
