"""The results that `evaluate` returns: computed as they are read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator
from types import TracebackType
from typing import TYPE_CHECKING, Any

from agentool_otel.ground.untrusted_text import count_text
from agentool_otel.model.documents import EvalResult

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["EvalResults"]

_OUTCOMES = {True: "passed", False: "failed", None: "not evaluated"}


class EvalResults(Generator[EvalResult, None, None]):
    """A generator of results that prints how many were read so far, and their outcomes."""

    def __init__(self, results: Generator[EvalResult, None, None]):
        self._results = results
        self._outcomes: Counter[bool | None] = Counter()
        self._state = "more may come"

    def __next__(self) -> EvalResult:
        return self.send(None)

    def send(self, value: None, /) -> EvalResult:
        """Compute and return the next result."""
        try:
            return self._count(self._results.send(value))
        except BaseException as error:
            if self._state == "more may come":
                self._state = "all are read" if isinstance(error, StopIteration) else "stopped"
            raise

    def throw(
        self,
        typ: Any,
        val: BaseException | object = None,
        tb: TracebackType | None = None,
        /,
    ) -> EvalResult:
        """Raise an exception at the present point of the computation."""
        error = typ if val is None and tb is None else _exception(typ, val, tb)
        try:
            return self._count(self._results.throw(error))
        except BaseException:
            self._state = "stopped"
            raise

    def close(self) -> None:
        """Drop results that are not computed yet."""
        if self._state == "more may come":
            self._state = "closed"
        self._results.close()

    def to_arrow(self) -> pa.Table:
        """Compute the remaining results, and return them as a pyarrow Table with a row per
        assertion, of which pandas and polars make frames: `to_arrow().to_pandas()`,
        `polars.from_arrow(to_arrow())`.

        The columns are those of `agentool_otel.tables.results`.

        Raises:
            MissingDependencyError: pyarrow is not installed.
        """
        from agentool_otel.tables import require

        require("to_arrow")
        from agentool_otel.tables import parquet_file, results

        rows = (results.result_rows(result.to_dict()) for result in self)
        return parquet_file.table_of(rows, results.SCHEMA)

    def __repr__(self) -> str:
        read = sum(self._outcomes.values())
        if not read and self._state == "more may come":
            return "<EvalResults: none is computed yet; loop over them or call list()>"
        outcomes = "".join(
            f", {self._outcomes[passed]:,} {word}"
            for passed, word in _OUTCOMES.items()
            if self._outcomes[passed]
        )
        return f"<EvalResults: {count_text(read, 'result')} read{outcomes}; {self._state}>"

    def _count(self, result: EvalResult) -> EvalResult:
        self._outcomes[result.passed] += 1
        return result


def _exception(kind: Any, value: Any, traceback: TracebackType | None) -> BaseException:
    """Return the exception of the three arguments that `throw` took before Python 3.12."""
    error = value if isinstance(value, BaseException) else kind() if value is None else kind(value)
    result: BaseException = error.with_traceback(traceback)
    return result
