"""Versions of Google's Gen AI SDK, and other packages that trace it."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = "tests/integrations/google_genai"
_ONLY = ("-k", "google_genai")

ENVIRONMENTS = {
    "clients": Environment(("google-genai>=3", "mcp>=2"), (*SITUATIONS, _TESTS)),
    "google-genai-oldest": Environment(
        ("google-genai==1.24.*",), (*CONTRACT, _TESTS, *_ONLY), nightly=True
    ),
    "beside-google-genai": Environment(
        (
            "google-genai>=2",
            "openinference-instrumentation-google-genai>=1.4",
            "opentelemetry-instrumentation-google-generativeai>=0.62",
        ),
        ("tests/situations/test_beside.py", "-m", "not backends", *_ONLY),
        nightly=True,
    ),
}
