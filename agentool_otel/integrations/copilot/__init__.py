"""GitHub Copilot CLI, and Copilot Chat in VS Code."""
