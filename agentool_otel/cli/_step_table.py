"""A Parquet file of trajectories, in place of the lines of another format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import BinaryIO

from agentool_otel.ground import json_codec
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.formats import Loss
from agentool_otel.tables.parquet_file import ParquetFile
from agentool_otel.tables.trajectories import SCHEMA, step_rows

__all__ = ["StepTable"]


class StepTable:
    """Writes `trajectories/1`. It has everything: there are no losses.

    Args:
        out: takes the file.
    """

    def __init__(self, out: BinaryIO):
        self.kinds: Counter[tuple[str, str, str]] = Counter()
        self._file = ParquetFile(out, SCHEMA)

    def write(self, trace: ReasoningTrace) -> None:
        """Write a trace."""
        self._file.add_rows(step_rows(trace.to_dict()))

    def put(self, value: bytes, losses: Iterable[Loss] = ()) -> None:
        """Write a trace that is JSON."""
        self._file.add_rows(step_rows(json_codec.loads(value)))

    def finish(self) -> None:
        """Write the rest and the end of the file."""
        self._file.finish()
