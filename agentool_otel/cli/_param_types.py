"""Base class of option types. `click.ParamType` takes no parameter before click 8.2."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

__all__ = ["IntType"]

if TYPE_CHECKING:
    IntType = click.ParamType[int]
else:
    IntType = click.ParamType
