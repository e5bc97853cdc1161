"""Content: encoding anything, masking credentials, and who decides."""

from __future__ import annotations

import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import uuid
from collections.abc import Mapping
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.emit.content import MASK, Policy, encode, jsonable, mask_text, requested
from agentool_otel.semconv import gen_ai


class Point(NamedTuple):
    x: int


@dataclasses.dataclass
class Row:
    id: int


class Color(enum.Enum):
    RED = "red"


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError


class Model:
    def model_dump(self) -> dict[str, int]:
        return {"a": 1}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point(1), [1]),
        (Row(1), {"id": 1}),
        (Color.RED, "red"),
        ({1: "a"}, {"1": "a"}),
        ({"a"}, ["a"]),
        (b"12345", "<5 bytes>"),
        (Model(), {"a": 1}),
        (decimal.Decimal("1.5"), "Decimal('1.5')"),
        (pathlib.PurePosixPath("/a"), "PurePosixPath('/a')"),
        (uuid.UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (2**80, 2**80),
        (Hostile(), "<Hostile object>"),
    ],
)
def test_any_value_has_a_json_form(value: Any, expected: Any) -> None:
    assert json.loads(encode(value)) == expected


def test_a_circular_value_does_not_raise() -> None:
    value: list[Any] = []
    value.append(value)
    assert isinstance(encode(value), str)


def test_a_copy_is_out_of_reach_of_later_changes() -> None:
    value = {"a": [1]}
    copy = jsonable(value)
    value["a"].append(2)
    assert copy == {"a": [1]}


def cleaned(value: Any, policy: Policy | None = None) -> Any:
    attributes = {gen_ai.TOOL_CALL_ARGUMENTS: encode(value)}
    (policy or Policy(capture=True)).clean(attributes)
    text = attributes.get(gen_ai.TOOL_CALL_ARGUMENTS)
    return None if text is None else json.loads(text)


@pytest.mark.parametrize(
    "key",
    ["api_key", "apiKey", "X-API-Key", "password", "client_secret", "accessToken", "Authorization",
     "AWS_SECRET_ACCESS_KEY", "db.password", "cookie"],
)  # fmt: skip
def test_a_member_that_names_a_credential_is_masked(key: str) -> None:
    assert cleaned({"a": [{key: "hunter2"}]}) == {"a": [{key: MASK}]}


@pytest.mark.parametrize(
    "key", ["monkey", "tokens", "max_tokens", "keyword", "author", "passenger"]
)
def test_a_member_that_only_sounds_like_one_is_not(key: str) -> None:
    assert cleaned({key: "harmless"}) == {key: "harmless"}


@pytest.mark.parametrize(
    "secret",
    [
        "sk-proj-abcdefghijklmnopqrstuvwx",
        "ghp_abcdefghijklmnopqrstuvwxyz0123456789",
        "AKIAABCDEFGHIJKLMNOP",
        "xoxb-1234567890-abcdefghij",
        "Bearer abcdef1234567890",
    ],
)
def test_a_value_of_the_shape_of_a_credential_is_masked_anywhere(secret: str) -> None:
    [masked] = cleaned({"note": f"use {secret} please"}).values()
    assert secret.removeprefix("Bearer ") not in masked
    assert MASK in masked
    assert MASK in mask_text(f"failed with {secret}")


@given(st.recursive(st.none() | st.integers() | st.text(), lambda i: st.lists(i, max_size=3)))
def test_what_holds_no_credential_passes_unchanged(value: Any) -> None:
    assert cleaned({"value": value}) == {"value": value} or MASK in json.dumps(cleaned(value))


def test_without_capture_content_is_dropped_and_the_rest_stays() -> None:
    attributes = {gen_ai.TOOL_CALL_ARGUMENTS: "{}", gen_ai.TOOL_NAME: "t"}
    Policy(capture=False).clean(attributes)
    assert attributes == {gen_ai.TOOL_NAME: "t"}


def test_redact_sees_masked_text_and_may_change_or_drop_it() -> None:
    seen: list[tuple[str, str]] = []

    def redact(name: str, text: str) -> str | None:
        seen.append((name, text))
        return None if "drop" in text else text.upper()

    assert cleaned({"a": "b"}, Policy(capture=True, redact=redact)) == {"A": "B"}
    assert cleaned({"a": "drop"}, Policy(capture=True, redact=redact)) is None
    assert seen[0] == (gen_ai.TOOL_CALL_ARGUMENTS, '{"a":"b"}')


def test_a_raising_redact_drops_the_attribute() -> None:
    def redact(name: str, text: str) -> str:
        raise RuntimeError

    assert cleaned({"a": 1}, Policy(capture=True, redact=redact)) is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("SPAN_ONLY", True),
        ("span_and_event", True),
        ("true", True),
        ("NO_CONTENT", False),
        ("false", False),
        ("", None),
    ],
)
def test_the_environment_decides_in_the_conventions_words(said: str, expected: bool | None) -> None:
    environ: Mapping[str, str] = {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": said}
    assert requested(environ) is expected


def test_a_word_that_is_not_known_captures_nothing_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert requested({"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "maybe"}) is False
    assert "use SPAN_ONLY or NO_CONTENT" in caplog.text
