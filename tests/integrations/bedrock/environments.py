"""Versions of the AWS SDK, and other packages that trace Bedrock."""

from __future__ import annotations

from tests.environments import CONTRACT, SITUATIONS, Environment

__all__ = ["ENVIRONMENTS"]

_TESTS = "tests/integrations/bedrock"
_ONLY = ("-k", "bedrock")

ENVIRONMENTS = {
    "clients": Environment(("boto3>=1.44",), (*SITUATIONS, _TESTS)),
    # aioboto3 pins the others to versions of its time.
    "bedrock-async": Environment(("aioboto3>=15",), (*SITUATIONS, _TESTS, *_ONLY), nightly=True),
    "bedrock-oldest": Environment(("boto3==1.37.*",), (*CONTRACT, _TESTS, *_ONLY), nightly=True),
    "beside-bedrock": Environment(
        (
            "boto3>=1.40",
            "openinference-instrumentation-bedrock>=0.1.50",
            "opentelemetry-instrumentation-bedrock>=0.62",
        ),
        ("tests/situations/test_beside.py", "-m", "not backends", *_ONLY),
        nightly=True,
    ),
}
