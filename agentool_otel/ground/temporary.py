"""Files in the temporary folder that last as long as a file is read."""

from __future__ import annotations

import errno
import tempfile

from agentool_otel.errors import SourceError

__all__ = ["room"]


class _Room:
    """Turns the error of a full disk into a `SourceError` with a hint."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise SourceError(
                f"no space left in {tempfile.gettempdir()} to sort the spans; "
                "hint: set TMPDIR to a larger disk"
            ) from error


room = _Room()
"""Around whatever writes there, or moves about in what is written."""
