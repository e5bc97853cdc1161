"""Bodies of responses that the program reads: what it reads is read along.

A body of botocore reads from a raw stream, which is what is watched; one of aiobotocore is watched
itself, because it is read in other ways too.

Source: botocore response.py at 1.44, aiobotocore response.py at 2.25.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import finalize

import wrapt

from agentool_otel.ground.json_codec import loads

if TYPE_CHECKING:
    from agentool_otel.tracing.instrumentation.client_calls import Ending

__all__ = ["watched"]


def watched(body: Any, ending: Ending) -> Any:
    """Return a body that ends the call when it has been read."""
    raw = vars(body).get("_raw_stream") if not isinstance(body, wrapt.ObjectProxy) else None
    if raw is None:
        return _AsyncBody(body, ending)
    vars(body)["_raw_stream"] = _RawStream(raw, ending)
    return body


class _Reader:
    """The pieces of a body so far."""

    def __init__(self, ending: Ending):
        self._ending = ending
        self._pieces: list[bytes] = []

    def add(self, piece: Any, is_last: bool) -> None:
        if isinstance(piece, bytes):
            self._pieces.append(piece)
        if is_last or not piece:
            self.end()

    def end(self) -> None:
        """End the call with the whole body; one that is no JSON, such as an image, is not kept."""
        try:
            response = loads(b"".join(self._pieces))
        except ValueError:
            self._ending.finish()
        else:
            self._ending.whole(response)

    def failed(self, error: BaseException) -> None:
        self._ending.finish(error)

    def closed(self) -> None:
        self._ending.closed()


class _RawStream(wrapt.ObjectProxy):  # type: ignore[misc, type-arg, unused-ignore]
    def __init__(self, wrapped: Any, ending: Ending):
        super().__init__(wrapped)
        self._self_reader = _Reader(ending)
        finalize(self, ending.collected)

    def read(self, amount: int | None = None, *args: Any, **kwargs: Any) -> Any:
        piece = self._self_failing(self.__wrapped__.read, amount, *args, **kwargs)
        self._self_reader.add(piece, amount is None or amount < 0)
        return piece

    def readinto(self, buffer: Any) -> Any:
        count = self._self_failing(self.__wrapped__.readinto, buffer)
        self._self_reader.add(bytes(memoryview(buffer)[: count or 0]), False)
        return count

    def readlines(self, *args: Any) -> Any:
        lines = self._self_failing(self.__wrapped__.readlines, *args)
        self._self_reader.add(b"".join(lines), True)
        return lines

    def close(self) -> Any:
        try:
            return self.__wrapped__.close()
        finally:
            self._self_reader.closed()

    def _self_failing(self, method: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except BaseException as error:
            self._self_reader.failed(error)
            raise


class _AsyncBody(wrapt.ObjectProxy):  # type: ignore[misc, type-arg, unused-ignore]
    def __init__(self, wrapped: Any, ending: Ending):
        super().__init__(wrapped)
        self._self_reader = _Reader(ending)
        finalize(self, ending.collected)

    async def read(self, amount: int | None = None) -> Any:
        try:
            piece = await self.__wrapped__.read(amount)
        except BaseException as error:
            self._self_reader.failed(error)
            raise
        self._self_reader.add(piece, amount is None or amount < 0)
        return piece

    async def __aenter__(self) -> Any:
        await self.__wrapped__.__aenter__()
        return self

    async def __aexit__(self, *raised: Any) -> Any:
        try:
            return await self.__wrapped__.__aexit__(*raised)
        finally:
            self._self_reader.closed()
