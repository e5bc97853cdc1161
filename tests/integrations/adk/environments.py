"""Versions of the Agent Development Kit, and other packages that trace it."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = ("tests/integrations/adk", "-k", "adk")

ENVIRONMENTS = {
    "google-adk": Environment(("google-adk>=2.13",), (*SITUATIONS, *_TESTS)),
    "google-adk-oldest": Environment(
        ("google-adk==1.19.*", "litellm>=1.80"), (*CONTRACT, *_TESTS), nightly=True
    ),
    "beside-google-adk": Environment(
        ("google-adk>=2.13", "openinference-instrumentation-google-adk>=0.1"),
        ("tests/situations/test_beside.py", "-m", "not backends", "-k", "adk"),
        nightly=True,
    ),
}
