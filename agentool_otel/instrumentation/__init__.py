"""Instrumentors: one file or folder per framework, all switched on by one line.

kit/            what they are made of
openai          OpenAI's client: chat completions, responses, embeddings
anthropic/      Anthropic's client: messages, and its tool runner
mcp/, fastmcp   clients and servers of the Model Context Protocol
langchain/      LangChain and LangGraph, by their official callback handler
openai_agents/  OpenAI's Agents SDK, by the methods of its own spans
pydantic_ai/    pydantic-ai, by capabilities that each run is given
crewai/         CrewAI, by its event bus
"""
