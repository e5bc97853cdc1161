"""Instrumentors: one file per framework, all switched on by one line.

base          the patch table and everything frameworks have in common
_setup        `instrument()`: puts into force what is named, and attaches to the frameworks
openai        OpenAI's client: chat completions, responses, embeddings
langchain     LangChain and LangGraph, by their official callback handler
"""

from __future__ import annotations

from agentool_otel.instrument._setup import flush, instrument, status, uninstrument

__all__ = ["flush", "instrument", "status", "uninstrument"]
