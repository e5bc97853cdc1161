"""Versions of LlamaIndex, and other packages that trace it."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

# LlamaIndex's integration of OpenAI does not admit openai 3 yet.
_OPENAI = (
    *("openai<3", "llama-index-llms-openai", "llama-index-llms-openai-like"),
    "llama-index-embeddings-openai",
)
_TESTS = ("tests/integrations/llama_index", "-k", "llama_index")

ENVIRONMENTS = {
    "agents-openai-2": Environment(
        ("llama-index-core>=0.14", *_OPENAI), (*SITUATIONS, "tests/integrations/llama_index")
    ),
    "llama-index-oldest": Environment(
        ("llama-index-core==0.13.*", *_OPENAI), (*CONTRACT, *_TESTS), nightly=True
    ),
    "beside-llama-index": Environment(
        (
            *("llama-index-core>=0.14", *_OPENAI),
            "openinference-instrumentation-llama-index>=4.6",
            "opentelemetry-instrumentation-llamaindex>=0.62",
        ),
        ("tests/situations/test_beside.py", "-m", "not backends", "-k", "llama_index"),
        nightly=True,
    ),
}
