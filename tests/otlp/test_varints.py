"""Varints: written numbers are read back, and invalid ones are refused."""

from __future__ import annotations

from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.otlp.varints import from_bytes, from_stream, to_bytes

numbers = st.integers(0, (1 << 64) - 1)


@given(number=numbers, before=st.binary(max_size=3), behind=st.binary(max_size=3))
def test_a_number_is_read_as_it_was_written(number: int, before: bytes, behind: bytes) -> None:
    encoded = to_bytes(number)
    data = before + encoded + behind
    assert from_bytes(data, len(before)) == (number, len(before) + len(encoded))
    assert from_stream(BytesIO(encoded + behind)) == number


@given(number=numbers)
def test_protobuf_writes_the_same_bytes(number: int) -> None:
    encoder = pytest.importorskip("google.protobuf.internal.encoder")
    assert to_bytes(number) == encoder._VarintBytes(number)


@given(data=st.lists(st.integers(0x80, 0xFF), max_size=12).map(bytes))
def test_bytes_without_an_end_are_no_number(data: bytes) -> None:
    with pytest.raises(ValueError, match="no number ends"):
        from_bytes(data)
    assert from_stream(BytesIO(data)) is None


def test_a_stream_is_not_read_beyond_the_longest_length() -> None:
    stream = BytesIO(b"\x80" * 20)
    assert from_stream(stream, 5) is None
    assert stream.tell() == 5
