"""Being a user to whom permissions apply, where the tests run as root."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager

import pytest

NOBODY = 65534
"""`nobody` on Linux, and a user like any other where there is no such name."""
needs_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give files away"
)
needs_users = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="no users as Unix has them")


@contextmanager
def as_nobody() -> Generator[None]:
    """Be a user to whom permissions apply: root may read all."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
