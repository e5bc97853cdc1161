"""LlamaIndex: agents, workflows, tools, model calls and retrieval, by its dispatcher."""
