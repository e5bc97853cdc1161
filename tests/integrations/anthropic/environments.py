"""Versions of anthropic."""

from __future__ import annotations

from tests.environments import SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = ("tests/integrations/anthropic", *SITUATIONS)

ENVIRONMENTS = {
    # Before the SDK had spans of its own, and the last with httpx and text completions.
    "anthropic-1": Environment(("anthropic==1.0.*",), _TESTS, nightly=True),
    "anthropic-0": Environment(("anthropic==0.104.*",), _TESTS, nightly=True),
}
