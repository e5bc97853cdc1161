"""Mastra, its present spans and those before version 1."""
