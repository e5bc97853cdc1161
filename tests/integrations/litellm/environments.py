"""Versions of LiteLLM, and another package that traces it."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = "tests/integrations/litellm"
_ONLY = ("-k", "litellm")

ENVIRONMENTS = {
    "clients": Environment(("litellm>=1.100",), (*SITUATIONS, _TESTS)),
    # It warns of itself when it is imported, and leaves sockets open.
    "litellm-oldest": Environment(
        ("litellm==1.80.0",), (*CONTRACT, _TESTS, *_ONLY, "-W", "ignore"), nightly=True
    ),
    # Some hundred packages.
    "litellm-proxy": Environment(
        ("litellm[proxy]>=1.100",), ("tests/integrations/litellm", "-k", "proxy"), nightly=True
    ),
    "beside-litellm": Environment(
        ("litellm>=1.100", "openinference-instrumentation-litellm>=0.1.40"),
        ("tests/situations/test_beside.py", "-m", "not backends", *_ONLY),
        nightly=True,
    ),
}
