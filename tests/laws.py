"""Number of examples per law: few on every change, all of them in `.ci/nightly`.

`HYPOTHESIS_PROFILE=nightly` runs all of them.
"""

from __future__ import annotations

import os

import hypothesis

__all__ = ["load_profile", "many"]

_NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"
_FEWER = 5


def load_profile() -> None:
    """Put the profile into force that the environment names, `push` if none."""
    hypothesis.settings.register_profile("push", deadline=None, max_examples=30)
    hypothesis.settings.register_profile("nightly", deadline=None, max_examples=200)
    hypothesis.settings.load_profile("nightly" if _NIGHTLY else "push")


def many(examples: int, fewer: int = _FEWER) -> int:
    """Return how many examples a law is tried with that is worth this many by night: by day the
    one in so many, since each example of some laws takes long."""
    return examples if _NIGHTLY else max(examples // fewer, 20)
