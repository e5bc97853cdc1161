"""Google's Gemini CLI."""
