"""Claude Code and the Claude Agent SDK."""
