"""The version of this distribution; pyproject.toml and this file say the same, a test compares."""

__version__ = "0.1.0"
