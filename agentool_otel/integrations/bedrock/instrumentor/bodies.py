"""Bodies of responses that the program reads: what it reads is read along.

A body reads from a raw stream, in whichever way the program reads the body, so that stream is what
is watched. The body itself stays as it is.

Source: botocore response.py at 1.44, aiobotocore response.py at 2.25, aiohttp `ClientResponse`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import finalize

import wrapt

from agentool_otel.ground.json_codec import loads

if TYPE_CHECKING:
    from agentool_otel.tracing.instrumentation.client_calls import Ending

__all__ = ["watch"]


def watch(body: Any, ending: Ending, length: int | None) -> None:
    """End a call when the body of its response has been read.

    Args:
        body: a body of botocore or of aiobotocore.
        ending: of the call.
        length: the number of its bytes, None if unknown.
    """
    reader = _Reader(ending, length)
    if isinstance(body, wrapt.ObjectProxy):  # of aiobotocore: the response, with more methods
        response = body.__wrapped__
        response.content = _AsyncContent(response.content, reader)
    else:
        body._raw_stream = _RawStream(body._raw_stream, reader)


class _Reader:
    """The pieces of a body so far."""

    def __init__(self, ending: Ending, length: int | None):
        self.ending = ending
        self._missing = length
        self._pieces: list[bytes] = []

    def add(self, piece: Any, is_last: bool = False) -> None:
        if isinstance(piece, bytes):
            self._pieces.append(piece)
            if self._missing is not None:
                self._missing -= len(piece)
        if is_last or not piece or self._missing == 0:
            self._end()

    def _end(self) -> None:
        """End the call with the whole body; one that is no JSON, such as an image, is not kept."""
        try:
            response = loads(b"".join(self._pieces))
        except ValueError:
            self.ending.finish()
        else:
            self.ending.whole(response)


class _RawStream(wrapt.ObjectProxy):  # type: ignore[misc, type-arg, unused-ignore]
    """What a body of botocore reads from."""

    def __init__(self, wrapped: Any, reader: _Reader):
        super().__init__(wrapped)
        self._self_reader = reader
        finalize(self, reader.ending.collected)

    def read(self, amount: int | None = None, *args: Any, **kwargs: Any) -> Any:
        piece = self._self_failing(self.__wrapped__.read, amount, *args, **kwargs)
        self._self_reader.add(piece, amount is None or amount < 0)
        return piece

    def readinto(self, buffer: Any) -> Any:
        count = self._self_failing(self.__wrapped__.readinto, buffer)
        self._self_reader.add(bytes(memoryview(buffer)[: count or 0]))
        return count

    def readlines(self, *args: Any) -> Any:
        lines = self._self_failing(self.__wrapped__.readlines, *args)
        self._self_reader.add(b"".join(lines), is_last=True)
        return lines

    def close(self) -> Any:
        try:
            return self.__wrapped__.close()
        finally:
            self._self_reader.ending.closed()

    def _self_failing(self, method: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except BaseException as error:
            self._self_reader.ending.finish(error)
            raise


_READS = ("read", "readany", "readline", "readexactly", "readuntil")


class _AsyncContent(wrapt.ObjectProxy):  # type: ignore[misc, type-arg, unused-ignore]
    """What a body of aiobotocore reads from."""

    def __init__(self, wrapped: Any, reader: _Reader):
        super().__init__(wrapped)
        self._self_reader = reader
        finalize(self, reader.ending.collected)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        return self._self_read(value) if name in _READS else value

    def _self_read(self, method: Any) -> Any:
        async def read(*args: Any, **kwargs: Any) -> Any:
            try:
                piece = await method(*args, **kwargs)
            except BaseException as error:
                self._self_reader.ending.finish(error)
                raise
            self._self_reader.add(piece, self.__wrapped__.at_eof())
            return piece

        return read
