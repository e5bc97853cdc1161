"""A credential is masked wherever it stands: each place of a span, a log record and a resource."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, TraceFlags, TraceState

import agentool_otel
from agentool_otel.content.policy import Policy, Redact
from agentool_otel.otlp.json_encoder import encode_span
from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.tracing.export.masking.logs import mask_log
from agentool_otel.tracing.export.masking.spans import Masking
from tests.security.masking_examples import made
from tests.tracing.export.logged import RESOURCE, SCOPE

pytestmark = pytest.mark.usefixtures("every_search")

SECRET = f"sk-proj-{made(40)}"


@dataclasses.dataclass
class Record:
    note: str = SECRET


class Colour(enum.Enum):
    RED = SECRET


class Loud(Exception):
    pass


# ------------------------------------------------------------------------- what a program reports


def call(**value: Any) -> None:
    agentool_otel.tool(lambda **_: None)(**value)


def gives(value: Any) -> Callable[[], None]:
    def run() -> None:
        agentool_otel.tool(lambda: value)()

    return run


def takes(value: Any) -> Callable[[], None]:
    return lambda: call(value=value)


def in_run(use: Callable[[Any], Any]) -> Callable[[], None]:
    def run() -> None:
        with agentool_otel.run("agent") as opened:
            use(opened)

    return run


def run_of(**options: Any) -> Callable[[], None]:
    def run() -> None:
        values: dict[str, Any] = {"name": "agent", **options}
        with agentool_otel.run(**values):
            pass

    return run


def raises(error: BaseException) -> Callable[[], None]:
    def fail() -> None:
        raise error

    def run() -> None:
        with pytest.raises(type(error)):
            agentool_otel.tool(fail)()

    return run


def chained() -> None:
    def fail() -> None:
        try:
            raise KeyError(SECRET)
        except KeyError as error:
            raise Loud("outer") from error

    with pytest.raises(Loud):
        agentool_otel.tool(fail)()


def function_named() -> None:
    def find() -> None: ...

    find.__name__ = SECRET
    agentool_otel.tool(find)()


def documented() -> None:
    def find() -> None: ...

    find.__doc__ = f"Finds with {SECRET}."
    agentool_otel.tool(find)()


def defaulted() -> None:
    def find(key: str = SECRET) -> None: ...

    agentool_otel.tool(find)()


VALUES: dict[str, Any] = {
    "text": SECRET,
    "text around": f"use {SECRET} please",
    "dict value": {"note": SECRET},
    "dict key": {SECRET: 1},
    "nested dict key": {"a": [{f"k {SECRET}": 1}]},
    "list": [SECRET],
    "tuple": (SECRET,),
    "set": {SECRET},
    "bytes": SECRET.encode(),
    "bytearray": bytearray(SECRET.encode()),
    "memoryview": memoryview(SECRET.encode()),
    "enum": Colour.RED,
    "path": PurePosixPath(f"/x/{SECRET}"),
    "dataclass": Record(),
    "JSON text": f'{{"a":"{SECRET}"}}',
}
CALLS: dict[str, Callable[[], None]] = {
    **{f"argument: {kind}": takes(value) for kind, value in VALUES.items()},
    **{f"result: {kind}": gives(value) for kind, value in VALUES.items()},
    "keyword name": lambda: call(**{SECRET: 1}),
    "default": defaulted,
    "function name": function_named,
    "docstring": documented,
    "exception": raises(Loud(SECRET)),
    "chained exception": chained,
    "run name": run_of(name=SECRET),
    "run description": run_of(description=SECRET),
    "session id": run_of(session_id=SECRET),
    "user id": run_of(user_id=SECRET),
    "tag": run_of(tags=[SECRET]),
    "metadata value": run_of(metadata={"a": SECRET}),
    "metadata key": run_of(metadata={SECRET: "a"}),
    "run input": run_of(input=SECRET),
    "tool_call name": in_run(lambda item: item.tool_result(item.tool_call(SECRET), 1)),
    "tool_call arguments": in_run(
        lambda item: item.tool_result(item.tool_call("t", {"a": SECRET}), 1)
    ),
    "tool_result error": in_run(lambda item: item.tool_result(item.tool_call("t"), error=SECRET)),
    "reasoning": in_run(lambda item: item.reasoning(SECRET)),
    "handoff": in_run(lambda item: item.handoff(SECRET, SECRET)),
    "memory query": in_run(lambda item: item.memory_read(SECRET)),
    "memory key": in_run(lambda item: item.memory_write("x", key=SECRET)),
}


@pytest.mark.parametrize("place", CALLS)
def test_what_a_program_reports_holds_no_credential(place: str, spans: Any) -> None:
    CALLS[place]()
    masking = Masking(Policy(capture=True))
    finished = spans.finished()
    assert finished
    assert SECRET not in "".join(masking(span).to_json() for span in finished)


# ------------------------------------------------------------------- what another library's span is


def context_with(word: str) -> SpanContext:
    return SpanContext(1, 2, True, TraceFlags(1), TraceState([("vendor", word)]))


def ended(
    use: Callable[[Any], Any] = lambda span: None,
    resource: Resource | None = None,
    scope: tuple[str, str | None, str | None] = ("other", None, None),
    **options: Any,
) -> ReadableSpan:
    provider = TracerProvider(resource=resource or Resource({}), shutdown_on_exit=False)
    name = options.pop("name", "work")
    span = provider.get_tracer(*scope).start_span(name, **options)
    use(span)
    span.end()
    assert isinstance(span, ReadableSpan)
    return span


def below(context: SpanContext) -> Any:
    return trace.set_span_in_context(trace.NonRecordingSpan(context))


FOREIGN: dict[str, Callable[[str], ReadableSpan]] = {
    "span name": lambda word: ended(name=f"GET {word}"),
    "attribute value": lambda word: ended(lambda item: item.set_attribute("x", word)),
    "attribute list": lambda word: ended(lambda item: item.set_attribute("x", [word])),
    "attribute name": lambda word: ended(lambda item: item.set_attribute(word, "x")),
    "event name": lambda word: ended(lambda item: item.add_event(word)),
    "event attribute": lambda word: ended(lambda item: item.add_event("e", {"x": word})),
    "event attribute name": lambda word: ended(lambda item: item.add_event("e", {word: 1})),
    "exception": lambda word: ended(lambda item: item.record_exception(Loud(word))),
    "status": lambda word: ended(lambda item: item.set_status(trace.StatusCode.ERROR, word)),
    "link attribute": lambda word: ended(links=[Link(context_with(word), {"x": word})]),
    "link trace state": lambda word: ended(links=[Link(context_with(word), {})]),
    "trace state": lambda word: ended(context=below(context_with(word))),
    "resource value": lambda word: ended(resource=Resource({"x": f"with {word}"})),
    "resource name": lambda word: ended(resource=Resource({word: "x"})),
    "resource by its name": lambda word: ended(resource=Resource({"db.password": word})),
    "resource URL": lambda word: ended(resource=Resource({"u": f"https://a:{word}@b"})),
    "scope name": lambda word: ended(scope=(word, None, None)),
    "scope version": lambda word: ended(scope=("x", word, None)),
    "schema URL": lambda word: ended(scope=("x", None, f"https://x/?api_key={word}")),
}


@pytest.mark.parametrize("place", FOREIGN)
def test_a_span_of_another_library_holds_no_credential(place: str) -> None:
    span = FOREIGN[place](SECRET)
    assert SECRET in encode_span(span).decode()
    assert SECRET not in encode_span(Masking(Policy(capture=True))(span)).decode()


# ------------------------------------------------------------------------------------ log records


def record(**value: Any) -> LogRecord:
    names: dict[str, Any] = {
        "resource": RESOURCE,
        "scope": SCOPE,
        "attributes": {},
        "observed_ns": 1,
    }
    return LogRecord(**{**names, **value})


LOGS: dict[str, dict[str, Any]] = {
    "body": {"body": SECRET},
    "nested body": {"body": {"a": [SECRET]}},
    "body bytes": {"body": SECRET.encode()},
    "key in a body": {"body": {"a": {SECRET: 1}}},
    "attribute": {"attributes": {"x": SECRET}},
    "attribute name": {"attributes": {SECRET: "x"}},
    "event name": {"event_name": SECRET},
    "severity": {"severity_text": SECRET},
    "scope": {"scope": InstrumentationScope(SECRET, SECRET)},
    "resource": {"resource": Resource({"x": SECRET})},
}


@pytest.mark.parametrize("place", LOGS)
def test_a_log_record_holds_no_credential(place: str) -> None:
    made_of = record(**LOGS[place])
    clean = mask_log(Masking(Policy(capture=True)), made_of)
    assert SECRET not in texts(clean)


def texts(made_of: LogRecord) -> str:
    scope, resource = made_of.scope, made_of.resource
    of_record = (made_of.body, dict(made_of.attributes), made_of.event_name, made_of.severity_text)
    return repr((*of_record, scope.name, scope.version, dict(resource.attributes)))


# ------------------------------------------------------------------------------ the user's rules


OURS = "ours-4711"


def rule(name: str, text: str) -> str | None:
    return text.replace(OURS, "[ours]")


def dropping(name: str, text: str) -> str | None:
    return None if OURS in text else text


@pytest.mark.parametrize("redact", [rule, dropping])
@pytest.mark.parametrize("place", FOREIGN)
def test_redact_is_offered_every_text_on_request(place: str, redact: Redact) -> None:
    """The same places, with a word that only the user's own rule knows."""
    span = FOREIGN[place](OURS)
    clean = Masking(Policy(capture=True, redact=redact, redact_all=True))(span)
    assert OURS in encode_span(span).decode()
    assert OURS not in encode_span(clean).decode()


def test_redact_all_reaches_names_of_our_own_spans(spans: Any) -> None:
    with agentool_otel.run(OURS, tags=[OURS], session_id=OURS):
        pass
    (span,) = spans.finished()
    assert OURS in span.to_json()
    for redact in (rule, dropping):
        masking = Masking(Policy(capture=True, redact=redact, redact_all=True))
        clean = masking(span).to_json()
        assert OURS not in clean
    by_default = Masking(Policy(capture=True, redact=rule))
    assert OURS in by_default(span).to_json()
