"""LangChain and LangGraph, by their official callback handler."""
