"""A second `instrument()` changes the named options and nothing else; a process for every case."""

from __future__ import annotations

import json
import os
import subprocess
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.loading import load
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.setup.test_setup import AGENT, JOIN, run

REDACT = "def redact(name, text): return text.replace('secret', '***')\n"
DOWN = "http://127.0.0.1:9"


def inputs(folder: Path) -> list[Any]:
    """Return the inputs of the agents in a recording."""
    return [trace.input for trace in load(folder / ".agentool")]


def resources(folder: Path) -> dict[str, str]:
    """Return the service of each span in a recording."""
    results: dict[str, str] = {}
    for file in (folder / ".agentool").glob("*.jsonl"):
        for line in file.read_text().splitlines():
            [spans] = json.loads(line)["resourceSpans"]
            names = {
                attribute["key"]: attribute["value"]
                for attribute in spans["resource"]["attributes"]
            }
            span = spans["scopeSpans"][0]["spans"][0]["name"]
            results[span] = names["service.name"]["stringValue"]
    return results


def printed(folder: Path, code: str, **environ: str) -> Any:
    """Run a program and return the JSON it prints."""
    code = f"{AGENT}import json\nstatus = agentool_otel.status\n{code}"
    return json.loads(run(folder, code, **environ).stdout)


# ------------------------------------------------------------------------------ what is not named


def test_redact_stays_in_force(tmp_path: Path) -> None:
    code = "agentool_otel.instrument(redact=redact); agentool_otel.instrument(service_name='x')\n"
    run(tmp_path, f"{AGENT}{REDACT}{code}clerk('a secret')")
    assert inputs(tmp_path) == ["a ***"]


def test_content_that_is_not_wanted_stays_unwanted(tmp_path: Path) -> None:
    code = "agentool_otel.instrument(content=False); agentool_otel.instrument(service_name='x')\n"
    run(tmp_path, f"{AGENT}{code}clerk('a secret')")
    assert inputs(tmp_path) != ["a secret"]
    assert "a secret" not in "".join(f.read_text() for f in (tmp_path / ".agentool").iterdir())


def test_an_endpoint_stays_the_destination_of_everything(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = f"agentool_otel.instrument({receiver.endpoint!r}); agentool_otel.instrument()\n"
        text = printed(tmp_path, f"{code}clerk('?'); print(json.dumps(status().to_dict()))")
        assert sorted(receiver.names()) == ["execute_tool add", "invoke_agent clerk"]
        assert set(receiver.paths) == {"/v1/traces", "/v1/metrics"}
    where = f"{receiver.endpoint} (http/protobuf)"
    assert {item["destination"] for item in (text, text["logs"], text["metrics"])} == {where}
    assert not text["content"]


def frameworks() -> list[str]:
    """Return the names of all frameworks that have an instrumentor."""
    points = entry_points(group="opentelemetry_instrumentor")
    return sorted(point.name[9:] for point in points if point.name.startswith("agentool-"))


def test_frameworks_stay_detached(tmp_path: Path) -> None:
    code = """
def on(): return [name for name, it in sorted(status()["instrumentors"].items()) if it["enabled"]]
agentool_otel.instrument(); seen = [on()]
agentool_otel.instrument(exclude=["langchain"]); seen.append(on())
agentool_otel.instrument(service_name="x"); seen.append(on())
agentool_otel.instrument(include=["langchain"], exclude=[]); seen.append(on())
agentool_otel.instrument(); seen.append(on())
print(json.dumps(seen))
"""
    every, *log = printed(tmp_path, code)
    remainder = [name for name in every if name != "langchain"]
    assert every == frameworks()
    assert log == [remainder, remainder, ["langchain"], ["langchain"]]


def test_threads_stay_left_alone(tmp_path: Path) -> None:
    code = """
import threading
start = threading.Thread.start
agentool_otel.instrument(exclude=["threads"]); agentool_otel.instrument(content=True)
print(json.dumps(threading.Thread.start is start))
"""
    assert printed(tmp_path, code) is True


def test_content_stays_out_of_a_provider_that_was_set_in_between(tmp_path: Path) -> None:
    code = f"{JOIN}agentool_otel.instrument(); print(json.dumps(status()['content']))"
    assert printed(tmp_path, f"agentool_otel.instrument()\n{code}") is False


def test_a_second_destination_is_kept_and_reported(tmp_path: Path) -> None:
    code = f"""
agentool_otel.instrument({DOWN!r})
{JOIN}
seen = [status()["destination"]]
agentool_otel.instrument(); seen.append(status()["destination"])
agentool_otel.instrument({DOWN!r}); seen.append(status()["destination"])
print(json.dumps(seen))
"""
    where = f"{DOWN} (http/protobuf), and the application's own tracer provider"
    assert printed(tmp_path, code) == [where] * 3


def test_the_environment_applies_where_code_sets_nothing(tmp_path: Path) -> None:
    code = f"""
import os
agentool_otel.instrument(service_name="x")
os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] = {DOWN!r}
agentool_otel.instrument(content=True)
print(json.dumps(status()["destination"]))
"""
    assert printed(tmp_path, code) == f"{DOWN} (http/protobuf)"


def test_what_is_named_while_the_sdk_is_disabled_is_remembered(tmp_path: Path) -> None:
    code = "agentool_otel.instrument(redact=redact); del __import__('os').environ[DISABLED]\n"
    code += "from agentool_otel.tracing.spans.settings import settings; settings.reset()\n"
    code = code.replace("DISABLED", "'OTEL_SDK_DISABLED'")
    program = f"{AGENT}{REDACT}{code}agentool_otel.instrument(); clerk('a secret')"
    run(tmp_path, program, OTEL_SDK_DISABLED="true")
    assert inputs(tmp_path) == ["a ***"]


# ---------------------------------------------------------------------------------- what is named


def test_another_endpoint_gets_everything_from_there_on(tmp_path: Path) -> None:
    with HttpReceiver() as first, HttpReceiver() as second:
        code = (
            f"{AGENT}agentool_otel.instrument({first.endpoint!r}); add(1, 2)\n"
            f"agentool_otel.instrument({second.endpoint!r}); agentool_otel.instrument(); clerk('?')"
        )
        run(tmp_path, code)
        assert first.names() == ["execute_tool add"]
        assert sorted(second.names()) == ["execute_tool add", "invoke_agent clerk"]
        assert b"gen_ai.invoke_agent" not in b"".join(first.bodies["/v1/metrics"])
        assert b"gen_ai.invoke_agent" in b"".join(second.bodies["/v1/metrics"])


def test_metrics_go_nowhere_once_spans_are_recorded_again(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}agentool_otel.instrument({receiver.endpoint!r}); add(1, 2)\n"
            "agentool_otel.uninstrument(); agentool_otel.instrument(); clerk('?')"
        )
        run(tmp_path, code)
        assert b"gen_ai.execute_tool" in b"".join(receiver.bodies["/v1/metrics"])
        assert b"gen_ai.invoke_agent" not in b"".join(receiver.bodies["/v1/metrics"])
    assert inputs(tmp_path) == ["?"]


def test_a_service_name_is_that_of_the_spans_from_there_on(tmp_path: Path) -> None:
    code = """
from opentelemetry import trace
early = trace.get_tracer("a library that keeps its tracer")
@agentool_otel.tool
def one(): pass
@agentool_otel.agent
def whole(): one()
agentool_otel.instrument(service_name="first")
early.start_span("early").end()
agentool_otel.instrument(service_name="second")
early.start_span("late").end(); whole()
agentool_otel.instrument()
with trace.get_tracer("another").start_as_current_span("last"): pass
"""
    run(tmp_path, f"import agentool_otel{code}")
    entries = hasattr(TracerProvider, "_update_resource")  # older SDKs forget the tracers they gave
    assert resources(tmp_path) == {
        "early": "first",
        "late": "second" if entries else "first",
        "execute_tool one": "second",
        "invoke_agent whole": "second",
        "last": "second",
    }


def test_it_is_that_of_the_metrics_too(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}agentool_otel.instrument({receiver.endpoint!r}, 'first'); add(1, 2)\n"
            "agentool_otel.instrument(service_name='second')"
        )
        run(tmp_path, code)
        sent = b"".join(receiver.bodies["/v1/metrics"])
    assert b"second" in sent
    assert b"first" not in sent


def test_children_of_a_renamed_service_use_the_fast_path(tmp_path: Path) -> None:
    code = """
from opentelemetry import trace
from agentool_otel.tracing.spans.own_span import OwnSpan
seen = []
@agentool_otel.tool
def look(): seen.append(isinstance(trace.get_current_span(), OwnSpan))
@agentool_otel.agent
def whole(): look()
agentool_otel.instrument(); whole()
agentool_otel.instrument(service_name="x"); whole(); whole()
print(json.dumps(seen))
"""
    first, _, last = printed(tmp_path, code)
    assert (first, last) == (True, True)


def test_an_applications_provider_keeps_its_service_name(tmp_path: Path) -> None:
    code = (
        f"{AGENT}{JOIN}agentool_otel.instrument(); agentool_otel.instrument(service_name='x')\n"
        "agentool_otel.instrument(service_name='y'); clerk('?')\n"
        "print(kept.get_finished_spans()[0].resource.attributes['service.name'])"
    )
    done = run(tmp_path, code)
    assert done.stdout.strip() not in ("x", "y")
    assert done.stderr.count("service_name='x' is not used") == 1
    assert "service_name='y'" not in done.stderr


def test_a_later_provider_keeps_its_service_name(tmp_path: Path) -> None:
    code = f"{AGENT}agentool_otel.instrument(service_name='x', content=True)\n{JOIN}"
    assert "service_name='x' is not used" in run(tmp_path, code).stderr


@pytest.mark.parametrize("change", ["content=False", "redact=redact"])
@pytest.mark.parametrize("journal", ["on", "off"])
def test_a_span_that_is_open_leaves_by_what_holds_at_its_end(
    tmp_path: Path, change: str, journal: str
) -> None:
    code = (
        f"{AGENT}{REDACT}agentool_otel.instrument()\n"
        "@agentool_otel.agent\n"
        f"def outer(question): agentool_otel.instrument({change}); add(1, 2)\n"
        "outer('a secret')"
    )
    run(tmp_path, code, AGENTOOL_JOURNAL=journal)
    [file] = (tmp_path / ".agentool").glob("*.jsonl")
    assert "secret" not in file.read_text()


def test_content_of_an_open_span_does_not_follow_to_an_endpoint(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}agentool_otel.instrument()\n"
            "@agentool_otel.agent\n"
            f"def outer(question): agentool_otel.instrument({receiver.endpoint!r}); add(1, 2)\n"
            "outer('a secret')"
        )
        run(tmp_path, code, OTEL_METRICS_EXPORTER="none")
        assert sorted(receiver.names()) == ["execute_tool add", "invoke_agent outer"]
        assert b"secret" not in b"".join(receiver.bodies["/v1/traces"])


# ------------------------------------------------------------------------------------ uninstrument


def test_after_uninstrument_nothing_is_remembered(tmp_path: Path) -> None:
    code = f"""
agentool_otel.instrument({DOWN!r}, "x", False, lambda name, text: None, ["openai"], ["threads"])
agentool_otel.uninstrument(); agentool_otel.instrument(); clerk("a secret")
print(json.dumps([status()["destination"], sorted(status()["instrumentors"])]))
"""
    assert printed(tmp_path, code) == [".agentool", frameworks()]
    assert inputs(tmp_path) == ["a secret"]
    assert "x" not in resources(tmp_path).values()


def test_what_ends_after_uninstrument_is_still_redacted(tmp_path: Path) -> None:
    code = (
        f"{AGENT}{REDACT}agentool_otel.instrument(redact=redact)\n"
        "from opentelemetry import trace\n"
        "span = trace.get_tracer('lib').start_span('theirs')\n"
        "span.set_attribute('gen_ai.input.messages', 'a secret')\n"
        "agentool_otel.uninstrument(); span.end()"
    )
    run(tmp_path, code)
    [file] = (tmp_path / ".agentool").glob("*.jsonl")
    assert "a ***" in file.read_text()


# ----------------------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "redact",
    [
        "'secret'",
        "lambda text: text",
        "lambda name, text, more: text",
        "lambda *, name, text: text",
        "functools.partial(lambda name, text: text, 'name')",
        "later",
        "functools.partial(later, more=1)",
        "Later()",
        "many",
    ],
)
def test_a_redact_that_redacts_nothing_is_refused_at_once(tmp_path: Path, redact: str) -> None:
    code = f"""
import functools
async def later(name, text, more=0): return text
def many(name, text): yield text
class Later:
    async def __call__(self, name, text): return text
try: agentool_otel.instrument(redact={redact})
except agentool_otel.AgentoolError as error: said = str(error)
print(json.dumps([said, status()["enabled"], status()["destination"]]))
"""
    text, enabled, destination = printed(tmp_path, code)
    assert text.startswith("redact of instrument() is ")
    assert "two arguments, attribute name and text" in text
    assert (enabled, destination) == (False, None)


@pytest.mark.parametrize(
    "redact",
    [
        "lambda name, text: 'kept'",
        "lambda *both: 'kept'",
        "lambda name, text, more=1: 'kept'",
        "functools.partial(lambda more, name, text: 'kept', 1)",
        "Redacting().method",
        "Redacting()",
        "adapted(lambda text: 'kept')",
    ],
)
def test_whatever_takes_two_arguments_redacts(tmp_path: Path, redact: str) -> None:
    code = f"""
import functools
class Redacting:
    def __call__(self, name, text): return 'kept'
    def method(self, name, text): return 'kept'
def adapted(function):
    @functools.wraps(function)
    def wrapper(name, text): return function(text)
    return wrapper
agentool_otel.instrument(redact={redact}); clerk("?")
"""
    run(tmp_path, AGENT + code)
    assert inputs(tmp_path) == ["kept"]


def test_a_built_in_without_signature_is_accepted(tmp_path: Path) -> None:
    run(tmp_path, "import agentool_otel; agentool_otel.instrument(redact=max)")


@pytest.mark.parametrize(
    "call",
    [
        "endpoint='nowhere', redact=None, content=True",
        "include=['nope'], endpoint=DOWN",
        "redact='no function', endpoint=DOWN, service_name='y'",
        "also='nope', service_name='y', content=False",
    ],
)
def test_a_call_that_is_refused_changes_nothing(tmp_path: Path, call: str) -> None:
    code = f"""
import os
DOWN = {DOWN!r}
agentool_otel.instrument(service_name="x", redact=lambda name, text: text.replace("secret", "***"))
before = status()
try: agentool_otel.instrument({call}); refused = False
except agentool_otel.AgentoolError: refused = True
same = status() == before
agentool_otel.instrument(); clerk("a secret")
print(json.dumps([refused, same, status()["destination"]]))
"""
    assert printed(tmp_path, code) == [True, True, ".agentool"]
    assert inputs(tmp_path) == ["a ***"]
    assert set(resources(tmp_path).values()) == {"x"}


def test_an_endpoint_with_a_no_op_provider_is_refused(tmp_path: Path) -> None:
    code = f"""
from opentelemetry import trace
trace.set_tracer_provider(trace.NoOpTracerProvider())
agentool_otel.instrument()
try: agentool_otel.instrument({DOWN!r})
except agentool_otel.AgentoolError as error: said = str(error)
agentool_otel.instrument()
print(json.dumps([said, status()["destination"]]))
"""
    text, destination = printed(tmp_path, code)
    assert "accepts no processors" in text
    assert destination == "the application's own tracer provider"


# --------------------------------------------------------------------- threads and other processes


def test_concurrent_calls_lose_nothing(tmp_path: Path) -> None:
    code = f"""
import threading
calls = [dict(endpoint={DOWN!r}), dict(service_name="x"), dict(content=False),
         dict(redact=lambda name, text: None), dict(include=["openai"]), dict(exclude=["threads"])]
ready = threading.Barrier(len(calls))
def call(named): ready.wait(); agentool_otel.instrument(**named)
threads = [threading.Thread(target=call, args=(named,)) for named in calls]
for thread in threads: thread.start()
for thread in threads: thread.join()
from agentool_otel.tracing.spans.settings import settings
found = status()
print(json.dumps([
    found["destination"], found["content"], settings.policy.redact is calls[3]["redact"],
    settings.provider.resource.attributes["service.name"],
    [name for name, it in found["instrumentors"].items() if it["enabled"]],
]))
"""
    result = printed(tmp_path, code)
    assert result == [f"{DOWN} (http/protobuf)", False, True, "x", ["openai"]]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_goes_on_with_what_was_named(tmp_path: Path) -> None:
    code = (
        f"{AGENT}{REDACT}import os\n"
        "agentool_otel.instrument(service_name='x', redact=redact)\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    agentool_otel.instrument(include=[]); clerk('a secret'); os._exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0"
    )
    run(tmp_path, code)
    assert inputs(tmp_path) == ["a ***"]
    assert set(resources(tmp_path).values()) == {"x"}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_child_forked_in_the_middle_of_a_call_does_not_wait_for_it(tmp_path: Path) -> None:
    code = """
import os, threading
from agentool_otel.tracing.setup.runtime import runtime
agentool_otel.instrument()
held, done = threading.Event(), threading.Event()
def hold():
    with runtime.lock: held.set(); done.wait()
threading.Thread(target=hold).start(); held.wait()
child = os.fork()
if not child: agentool_otel.instrument(content=False); os._exit(0)
_, code = os.waitpid(child, 0); done.set()
print(json.dumps(code))
"""
    assert printed(tmp_path, code) == 0


def test_what_a_refused_first_call_named_is_not_remembered(tmp_path: Path) -> None:
    code = f"""
try: agentool_otel.instrument({DOWN!r}, include=["nope"])
except agentool_otel.AgentoolError: pass
agentool_otel.instrument()
print(json.dumps(status()["destination"]))
"""
    assert printed(tmp_path, code) == ".agentool"


def test_a_mistake_is_reported_by_name(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(tmp_path, "import agentool_otel; agentool_otel.instrument(redact=str.upper)")
    assert "redact of instrument() is a function of other arguments" in failed.value.stderr
