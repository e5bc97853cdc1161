"""Google's Gen AI SDK: model calls, automatic function calling and embeddings.

    model call           generate_content, one for each request, chats too: the Gemini API and
                         Vertex AI. Its usage is the server's; thoughts count as output
    automatic calling    invoke_agent without a name, with execute_tool for each function and each
                         tool of an MCP session
    embeddings           embeddings

Not seen: Live sessions, the Interactions API, images and videos, batches. A chat has no id, so
runs of one have no session of their own.
"""

from __future__ import annotations

from agentool_otel.integrations.google_genai.instrumentor import function_calls, model_calls
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["GoogleGenAIInstrumentor"]


class GoogleGenAIInstrumentor(AgentInstrumentor):
    """Google's Gen AI SDK for Gemini and Vertex AI: model calls, chats, automatic function
    calling, embeddings: patches of its methods"""

    framework = "google-genai"
    supports = ("google-genai >= 1.24",)
    patches = (*model_calls.PATCHES, *function_calls.PATCHES)
