"""No test here depends on how busy the machine is: hypothesis' own time limit is off."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")
