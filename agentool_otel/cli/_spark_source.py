"""The places that Spark reads: Parquet of spans or trajectories, and lines of JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from agentool_otel.errors import SourceError, SourceUnreachable
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.ground.urls import printable_place

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

__all__ = ["SparkSource"]

_PARQUET = re.compile(r"\.parquet$")
_LINES = re.compile(r"\.(jsonl|json|ndjson)(\.(gz|bz2|zst|lz4|snappy))?$")
_OF_KIND = {"parquet": "*.parquet", "lines": "*.{jsonl,json,ndjson}*"}


class SparkSource:
    """Some places, read as one frame.

    Args:
        session: reads them.
        places: files, folders, globs, or URLs; the folder of recordings if there are none.
    """

    def __init__(self, session: SparkSession, places: Sequence[str]):
        self._session = session
        self._places = [*places] or [str(recordings_folder())]

    @property
    def name(self) -> str:
        """The places, for messages."""
        return ", ".join(map(printable_place, self._places))

    @property
    def files(self) -> list[Path]:
        """The places that are on this machine."""
        return [Path(place) for place in self._places if "://" not in place]

    def frame(self) -> DataFrame:
        """Return the rows of all places.

        Raises:
            SourceUnreachable: nothing is there.
            SourceError: it is neither Parquet nor lines of JSON.
        """
        frames = [self._frame(place) for place in self._places]
        return reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), frames)

    def _frame(self, place: str) -> DataFrame:
        kind = self._kind(place)
        reader: Any = self._session.read.option("recursiveFileLookup", "true")
        reader = reader.option("pathGlobFilter", _OF_KIND[kind])
        if kind == "parquet":
            parquet: DataFrame = reader.parquet(place)
            return parquet
        from pyspark.sql import functions as f

        from agentool_otel.spark import spans

        lines = reader.option("lineSep", "\n").text(place)
        file = f.regexp_replace(f.col("_metadata.file_path"), "^file:/+", "/").alias("file")
        start = f.col("_metadata.file_block_start").alias("start")
        return spans(lines.select("value", file, start))

    def _kind(self, place: str) -> str:
        from pyspark.errors import AnalysisException

        if place == "-":
            raise _unreadable(place)
        listing = self._session.read.format("binaryFile").option("recursiveFileLookup", "true")
        try:
            files = listing.load(place).inputFiles()
        except AnalysisException as error:
            if "PATH_NOT_FOUND" not in str(error):
                raise
            raise SourceUnreachable(
                f"{printable_place(place)} does not exist; hint: name a file, a folder, a glob "
                "pattern or a URL that Spark reads"
            ) from None
        kinds = {
            kind
            for file in files
            for kind, of_kind in (("parquet", _PARQUET), ("lines", _LINES))
            if of_kind.search(file)
        }
        if len(kinds) != 1:
            raise _unreadable(place, mixed=bool(kinds))
        return kinds.pop()

    def counted(self, keyed: DataFrame) -> tuple[DataFrame, Callable[[], int]]:
        """Return a frame, and a function that returns how many spans it had, once it was read."""
        from pyspark.sql import Observation
        from pyspark.sql import functions as f

        if "span_id" not in keyed.columns:
            return keyed, lambda: 0
        observation = Observation("agentool-otel spans")
        observed = keyed.observe(observation, f.count("span_id").alias("spans"))
        return observed, lambda: int(observation.get["spans"])

    def kept(self, rows: DataFrame) -> DataFrame:
        """Return rows that are computed now, by all workers at once, and kept on their disks:
        otherwise reading them here would compute one partition after another."""
        from pyspark import StorageLevel

        kept = rows.persist(StorageLevel.DISK_ONLY)
        kept.write.format("noop").mode("overwrite").save()
        return kept


def _unreadable(place: str, *, mixed: bool = False) -> SourceError:
    what = "has both Parquet and lines of JSON" if mixed else "is neither Parquet nor lines of JSON"
    return SourceError(
        f"{printable_place(place)} {what}, which Spark reads; hint: agentool-otel export "
        f"{quote(place)} --format parquet -o spans.parquet"
    )
