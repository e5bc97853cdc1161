"""The runner of click's commands, with stdout and stderr apart in every version of click."""

from __future__ import annotations

import inspect
from typing import Any

from click import testing

__all__ = ["CliRunner"]


class CliRunner(testing.CliRunner):
    """A runner that separates the streams, which click before 8.2 does only on request."""

    def __init__(self, **options: Any):
        if "mix_stderr" in inspect.signature(testing.CliRunner).parameters:
            options["mix_stderr"] = False
        super().__init__(**options)
