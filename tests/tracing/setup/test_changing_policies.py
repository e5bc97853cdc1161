"""While one content policy takes the place of another, nothing passes that either keeps back."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.policy import Policy
from agentool_otel.tracing.setup.content_policy import stricter, tightens

REDACTING = (lambda name, text: "a", lambda name, text: "b")
POLICIES = st.builds(
    Policy,
    capture=st.booleans(),
    on_spans=st.booleans(),
    redact=st.sampled_from([None, *REDACTING]),
)


@given(POLICIES, POLICIES)
def test_the_policy_in_between_lets_no_more_pass_than_either(before: Policy, after: Policy) -> None:
    between = stricter(before, after)
    assert between.capture == (before.capture and after.capture)
    assert (between.redact is None) == (before.redact is None and after.redact is None)


@given(POLICIES)
def test_an_unchanged_policy_does_not_tighten(policy: Policy) -> None:
    assert stricter(policy, policy) == policy
    assert not tightens(policy, policy)


@given(POLICIES, POLICIES)
def test_turning_content_off_tightens_a_policy(before: Policy, after: Policy) -> None:
    if before.capture and not after.capture:
        assert tightens(before, after)


@given(POLICIES, POLICIES)
def test_another_redact_tightens_a_policy(before: Policy, after: Policy) -> None:
    if after.redact is not None and after.redact is not before.redact:
        assert tightens(before, after)
