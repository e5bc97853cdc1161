"""LangWatch."""
