"""Recording calls of LiteLLM."""
