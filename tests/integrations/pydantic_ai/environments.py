"""The oldest pydantic-ai that the instrumentor admits."""

from __future__ import annotations

from tests.environments import CONTRACT, Environment

__all__ = ["ENVIRONMENTS"]

ENVIRONMENTS = {
    "pydantic-ai-oldest": Environment(
        (
            "openai>=2,<3",
            "pydantic-ai-slim[openai]==1.100.*",
            # Later ones have moved what it imports.
            "genai-prices==0.0.73",
        ),
        (*CONTRACT, "tests/integrations/pydantic_ai"),
        nightly=True,
    ),
}
