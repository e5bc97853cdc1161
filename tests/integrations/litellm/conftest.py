"""LiteLLM against the loopback model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel


@pytest.fixture
def litellm(spans: Any) -> Iterator[Any]:
    """The package, instrumented."""
    pytest.importorskip("litellm")
    from agentool_otel.integrations.litellm.instrumentor.patches import LiteLLMInstrumentor
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # or it asks a server
    package = import_module("litellm")
    instrumentors = LiteLLMInstrumentor(), OpenAIInstrumentor()
    for each in instrumentors:
        each.instrument()
    yield package
    for each in instrumentors:
        each.uninstrument()


@pytest.fixture
def openai(model: LoopbackModel) -> dict[str, Any]:
    """Parameters of a call to a server of OpenAI's protocol."""
    return {"model": "openai/gpt-4o", "api_base": model.base_url, "api_key": "none"}


@pytest.fixture
def anthropic(model: LoopbackModel) -> dict[str, Any]:
    """Parameters of a call to a server of Anthropic's protocol."""
    return {
        "model": "anthropic/claude-sonnet-5",
        "api_base": model.root_url,
        "api_key": "none",
    }
