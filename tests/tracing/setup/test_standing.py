"""After any sequence of calls the configuration equals that of one call with all options."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("openai")
if not hasattr(os, "fork"):
    pytest.skip("needs fork", allow_module_level=True)

pytestmark = pytest.mark.thorough

Call = dict[str, Any]
Ask = Callable[..., Any]

CALLS = st.fixed_dictionaries(
    {},
    optional={
        "endpoint": st.sampled_from(
            ["http://127.0.0.1:9", "http://127.0.0.1:9/v1/traces", "grpc://127.0.0.1:8"]
        ),
        "service_name": st.sampled_from(["a", "b"]),
        "content": st.booleans(),
        "redact": st.sampled_from(["upper", "nothing"]),
        "include": st.lists(st.sampled_from(["openai", "langchain"]), unique=True),
        "exclude": st.lists(st.sampled_from(["openai", "langchain", "threads"]), unique=True),
    },
)
ENVIRONS = st.sampled_from(
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:7", "OTEL_SERVICE_NAME": "env"},
        {"OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "SPAN_AND_EVENT"},
        {"OTEL_TRACES_EXPORTER": "none", "AGENTOOL_JOURNAL": "off"},
        {"OTEL_LOGS_EXPORTER": "console", "OTEL_METRICS_EXPORTER": "console"},
        {"OTEL_PYTHON_DISABLED_INSTRUMENTATIONS": "agentool-langchain"},
    ]
)


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ask]:
    """Execute steps in a fresh process; return the configuration after them."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("calls.py")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        cwd=tmp_path_factory.mktemp("calls"),
        env=clean,
        text=True,
    )

    def asked(environ: dict[str, str], *steps: Call | str) -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({"environ": environ, "steps": steps}) + "\n")
        process.stdin.flush()
        document = json.loads(process.stdout.readline())
        assert isinstance(document, dict), document
        return document

    with process:
        yield asked
        assert process.stdin is not None
        process.stdin.close()


def merged(calls: list[Call]) -> Call:
    return {name: value for call in calls for name, value in call.items()}


@given(ENVIRONS, st.lists(CALLS, min_size=1, max_size=4))
@settings(max_examples=40)
def test_calls_add_up_to_one(ask: Ask, environ: dict[str, str], calls: list[Call]) -> None:
    assert ask(environ, *calls) == ask(environ, merged(calls))


@given(ENVIRONS, st.lists(CALLS, max_size=3), st.lists(CALLS, min_size=1, max_size=3))
@settings(max_examples=20)
def test_they_do_around_a_provider_of_the_application(
    ask: Ask, environ: dict[str, str], before: list[Call], after: list[Call]
) -> None:
    once = [merged(before)] if before else []
    result = ask(environ, *before, "provider", *after)
    assert result == ask(environ, *once, "provider", merged(before + after))


@given(ENVIRONS, st.lists(CALLS, max_size=3), st.lists(CALLS, min_size=1, max_size=2))
@settings(max_examples=20)
def test_after_uninstrument_they_begin_anew(
    ask: Ask, environ: dict[str, str], before: list[Call], after: list[Call]
) -> None:
    assert ask(environ, *before, "uninstrument", *after) == ask(environ, merged(after))


@given(ENVIRONS, st.lists(CALLS, min_size=1, max_size=3))
@settings(max_examples=10)
def test_configuration_restarts_behind_an_applications_provider(
    ask: Ask, environ: dict[str, str], calls: list[Call]
) -> None:
    result = ask(environ, "provider", *calls, "uninstrument", {})
    assert result == ask(environ, "provider", {})
