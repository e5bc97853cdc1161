"""Instrumentors: one file or folder per framework, all switched on by one line.

kit/        the patch table, client calls, streams and wrapper chains that they share
openai      OpenAI's client: chat completions, responses, embeddings
langchain/  LangChain and LangGraph, by their official callback handler
"""
