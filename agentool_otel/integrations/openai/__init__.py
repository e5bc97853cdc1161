"""OpenAI's client, its tools and its messages."""
