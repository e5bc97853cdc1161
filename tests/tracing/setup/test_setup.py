"""`instrument()`: where spans go, in a process of its own for every case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import load
from agentool_otel.model import UNSET
from agentool_otel.reading.sources.opening import open_source
from tests.tracing.export.receiver import HttpReceiver, spans_in

AGENT = """
import agentool_otel
@agentool_otel.tool
def add(a, b): return a + b
@agentool_otel.agent
def clerk(question): return str(add(1, 2))
"""


def run(folder: Path, code: str, **environ: str) -> subprocess.CompletedProcess[str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**clean, **environ},
        cwd=folder,
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
    )


def test_without_an_endpoint_spans_are_recorded_in_the_working_folder(tmp_path: Path) -> None:
    run(tmp_path, f"{AGENT}agentool_otel.instrument(); clerk('1+2?')")
    [trace] = load(tmp_path / ".agentool")
    assert (trace.agent_id, trace.input, trace.output) == ("clerk", "1+2?", "3")


def test_the_folder_can_be_chosen(tmp_path: Path) -> None:
    place = tmp_path / "elsewhere"
    run(tmp_path, f"{AGENT}agentool_otel.instrument(); clerk('?')", AGENTOOL_DIR=str(place))
    assert len(list(load(place))) == 1


def test_a_process_without_spans_leaves_no_file(tmp_path: Path) -> None:
    run(tmp_path, "import agentool_otel; agentool_otel.instrument()")
    assert list(tmp_path.iterdir()) == []


def test_an_endpoint_gets_the_spans_without_content(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = f"{AGENT}agentool_otel.instrument({receiver.endpoint!r}); clerk('secret?')"
        run(tmp_path, code, OTEL_METRICS_EXPORTER="none")
        assert sorted(receiver.names()) == ["execute_tool add", "invoke_agent clerk"]
        assert b"secret?" not in b"".join(receiver.bodies["/v1/traces"])
    assert list(tmp_path.iterdir()) == []


def test_content_goes_over_the_network_when_asked_for(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = f"{AGENT}agentool_otel.instrument(); clerk('open?')"
        run(
            tmp_path,
            code,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="SPAN_ONLY",
        )
        assert b"open?" in b"".join(receiver.bodies["/v1/traces"])


def test_metrics_of_the_convention_go_to_the_endpoint(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        run(tmp_path, f"{AGENT}agentool_otel.instrument({receiver.endpoint!r}); clerk('?')")
        sent = b"".join(receiver.bodies["/v1/metrics"])
    for name in (b"gen_ai.execute_tool.duration", b"gen_ai.invoke_agent.tool_calls"):
        assert name in sent


def test_an_older_generation_of_names_can_be_asked_for(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}from agentool_otel.tracing.spans.live import begin\n"
            "from agentool_otel.model.operations import Inference, Usage\n"
            f"agentool_otel.instrument({receiver.endpoint!r})\n"
            "called = Inference(provider='x_ai', usage=Usage(input_tokens=1))\n"
            "begin(called).end(called)"
        )
        run(tmp_path, code, AGENTOOL_SEMCONV="1.36")
        assert b"gen_ai.system" in receiver.bodies["/v1/traces"][0]
        assert b"gen_ai.client.token.usage" in b"".join(receiver.bodies["/v1/metrics"])


def test_the_capture_policy_is_logged_once_at_info(tmp_path: Path) -> None:
    code = (
        f"{AGENT}import logging; logging.basicConfig(level=logging.INFO)\n"
        "agentool_otel.instrument(); agentool_otel.instrument()"
    )
    lines = run(tmp_path, code).stderr.splitlines()
    assert len(lines) == 1
    assert "content is captured" in lines[0]
    assert "content=False" in lines[0]


def test_a_healthy_run_prints_no_notice(tmp_path: Path) -> None:
    done = run(tmp_path, f"{AGENT}agentool_otel.instrument(); clerk('?')")
    assert (done.stdout, done.stderr) == ("", "")


JOIN = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
kept = InMemorySpanExporter()
mine = TracerProvider()
mine.add_span_processor(SimpleSpanProcessor(kept))
trace.set_tracer_provider(mine)
"""


def test_a_configured_provider_is_joined_and_not_replaced(tmp_path: Path) -> None:
    code = (
        f"{AGENT}{JOIN}agentool_otel.instrument(); clerk('?')\n"
        "assert trace.get_tracer_provider() is mine\n"
        "assert len(kept.get_finished_spans()) == 2\n"
        "assert 'gen_ai.input.messages' not in kept.get_finished_spans()[1].attributes\n"
    )
    run(tmp_path, code)
    assert list(tmp_path.iterdir()) == []


def test_a_provider_the_application_sets_later_takes_over(tmp_path: Path) -> None:
    code = (
        f"{AGENT}agentool_otel.instrument(); clerk('before')\n{JOIN}"
        "assert trace.get_tracer_provider() is mine\n"
        "clerk('after')\n"
        "with trace.get_tracer('app').start_as_current_span('own'): pass\n"
        "names = [span.name for span in kept.get_finished_spans()]\n"
        "assert names == ['execute_tool add', 'invoke_agent clerk', 'own'], names\n"
        "assert 'gen_ai.input.messages' not in kept.get_finished_spans()[1].attributes\n"
    )
    done = run(tmp_path, code)
    assert "content is no longer captured" in done.stderr
    assert [trace.input for trace in load(tmp_path / ".agentool")] == ["before", UNSET]


def test_a_joined_provider_can_send_to_an_endpoint_as_well(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}{JOIN}agentool_otel.instrument({receiver.endpoint!r}); clerk('?')\n"
            "assert len(kept.get_finished_spans()) == 2\n"
            "assert agentool_otel.flush()\n"
        )
        run(tmp_path, code)
        assert len(receiver.names()) == 2


PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_trace_handed_down_in_the_environment_is_joined(tmp_path: Path) -> None:
    run(tmp_path, f"{AGENT}agentool_otel.instrument(); clerk('?')", TRACEPARENT=PARENT)
    [trace] = load(tmp_path / ".agentool")
    assert trace.trace_id == "0af7651916cd43dd8448eb211c80319c"


def test_baggage_handed_down_in_the_environment_is_there_inside_a_run(tmp_path: Path) -> None:
    code = (
        "import agentool_otel; agentool_otel.instrument()\n"
        "from opentelemetry import baggage\n"
        "said = agentool_otel.tool(lambda: print(baggage.get_baggage('user')))\n"
        "said(); agentool_otel.uninstrument(); said()"
    )
    assert run(tmp_path, code, BAGGAGE="user=ada").stdout.split() == ["ada", "None"]


def test_what_is_handed_down_can_be_left_unread(tmp_path: Path) -> None:
    code = f"{AGENT}agentool_otel.instrument(); clerk('?')"
    run(tmp_path, code, TRACEPARENT=PARENT, OTEL_PROPAGATORS="none")
    [trace] = load(tmp_path / ".agentool")
    assert trace.trace_id != "0af7651916cd43dd8448eb211c80319c"


def test_a_child_process_joins_the_trace_and_its_settings(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}import subprocess, sys\n"
            "from agentool_otel.tracing.capture.context import child_environment\n"
            "@agentool_otel.tool\n"
            "def start():\n"
            f"    code = {(AGENT + 'agentool_otel.instrument(); add(1, 2)')!r}\n"
            "    env = child_environment()\n"
            "    subprocess.run([sys.executable, '-c', code], env=env, check=True)\n"
            f"agentool_otel.instrument({receiver.endpoint!r}); start()\n"
        )
        run(tmp_path, code, OTEL_METRICS_EXPORTER="none")
        assert sorted(receiver.names()) == ["execute_tool add", "execute_tool start"]
        bodies = receiver.bodies["/v1/traces"]
        ids = {span.trace_id for body in bodies for span in spans_in(body)}
    assert len(ids) == 1


def test_instrumenting_twice_records_once(tmp_path: Path) -> None:
    run(tmp_path, f"{AGENT}agentool_otel.instrument(); agentool_otel.instrument(); clerk('?')")
    [trace] = load(tmp_path / ".agentool")
    assert len(trace.steps) == 2


LIBRARY = """
from opentelemetry import trace
def library(name): return trace.get_tracer("library").start_span(name)
"""


@pytest.mark.parametrize("journal", ["on", "off"])
def test_after_uninstrument_no_span_that_starts_is_recorded(tmp_path: Path, journal: str) -> None:
    code = (
        f"{AGENT}{LIBRARY}agentool_otel.instrument(); clerk('a'); library('before').end()\n"
        "open_by_then = library('open by then'); agentool_otel.uninstrument()\n"
        "clerk('b'); library('after').end(); open_by_then.end()\n"
    )
    run(tmp_path, code, AGENTOOL_JOURNAL=journal)
    assert recorded_names(tmp_path) == [
        *("before", "execute_tool add", "invoke_agent clerk", "open by then")
    ]


def test_uninstrument_leaves_the_applications_spans(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}{JOIN}{LIBRARY}agentool_otel.instrument({receiver.endpoint!r})\n"
            "library('before').end(); open_by_then = library('open by then')\n"
            "agentool_otel.uninstrument(); library('after').end(); open_by_then.end()\n"
            "names = [span.name for span in kept.get_finished_spans()]\n"
            "assert names == ['before', 'after', 'open by then'], names\n"
        )
        run(tmp_path, code)
        assert sorted(receiver.names()) == ["before", "open by then"]


def test_uninstrument_ends_the_thread_that_sends(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            "def threads(): return [it for it in threading.enumerate() if 'export' in it.name]\n"
            f"{AGENT}import threading; agentool_otel.instrument({receiver.endpoint!r})\n"
            "clerk('?'); assert threads(); agentool_otel.uninstrument(); assert not threads()\n"
            "agentool_otel.instrument(); clerk('?'); assert threads()\n"
        )
        run(tmp_path, code, OTEL_METRICS_EXPORTER="none", **to(receiver))
        assert len(receiver.names()) == 4


def test_after_uninstrument_no_metric_is_sent(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = (
            f"{AGENT}from opentelemetry import metrics\n"
            "def count(name): metrics.get_meter('library').create_counter(name).add(1)\n"
            "agentool_otel.instrument(); clerk('?'); count('before')\n"
            "agentool_otel.uninstrument(); count('after')\n"
        )
        run(tmp_path, code, **to(receiver))
        sent = b"".join(receiver.bodies["/v1/metrics"])
    assert b"before" in sent
    assert b"after" not in sent


def to(receiver: HttpReceiver) -> dict[str, str]:
    return {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint}


def recorded_names(folder: Path) -> list[str]:
    [recording] = (folder / ".agentool").glob("*.jsonl")
    return sorted(span.name for span in open_source(str(recording)).spans())


def test_instrument_again_after_uninstrument_records_again(tmp_path: Path) -> None:
    code = (
        f"{AGENT}{LIBRARY}agentool_otel.instrument(); agentool_otel.uninstrument()\n"
        "agentool_otel.instrument(); clerk('b'); library('again').end()"
    )
    run(tmp_path, code)
    assert recorded_names(tmp_path) == ["again", "execute_tool add", "invoke_agent clerk"]


def test_redact_changes_content_and_a_raising_one_drops_it(tmp_path: Path) -> None:
    code = (
        f"{AGENT}"
        "def redact(name, text):\n"
        "    if 'arguments' in name: raise RuntimeError\n"
        "    return text.replace('1+2?', '***')\n"
        "agentool_otel.instrument(redact=redact); clerk('1+2?')"
    )
    run(tmp_path, code)
    [trace] = load(tmp_path / ".agentool")
    assert trace.input == "***"
    call = trace.steps[0].to_dict()["tool_call"]
    assert "arguments" not in call


def test_the_sdk_switch_turns_everything_off(tmp_path: Path) -> None:
    run(tmp_path, f"{AGENT}agentool_otel.instrument(); clerk('?')", OTEL_SDK_DISABLED="true")
    assert list(tmp_path.iterdir()) == []


def test_status_counts_what_was_made_and_written(tmp_path: Path) -> None:
    code = (
        f"{AGENT}import json; agentool_otel.instrument(); clerk('?'); agentool_otel.flush()\n"
        "print(json.dumps(agentool_otel.status().to_dict()))"
    )
    status: dict[str, Any] = json.loads(run(tmp_path, code).stdout)
    assert status["spans"] == {
        "created": 2,
        "exported": 2,
        "spooled": 0,
        "refused": 0,
        "dropped": 0,
    }
    assert status["destination"] == ".agentool"
    assert {"openai", "langchain"} <= set(status["instrumentors"])


def test_status_is_a_record_and_reads_as_its_json_object(tmp_path: Path) -> None:
    code = (
        f"{AGENT}agentool_otel.instrument(); clerk('?'); status = agentool_otel.status()\n"
        "assert status.spans.exported == status['spans']['exported'] == 2\n"
        "assert status.destination == status['destination'] == '.agentool'\n"
        "assert status.logs.destination == status['logs']['destination']\n"
        "assert status.instrumentors['openai'].enabled is True\n"
        "assert status.recording == status.get('recording') and 'recording' in status\n"
        "assert dict(status) == status.to_dict()\n"
        "try: status.enabled = False\n"
        "except AttributeError: pass\n"
        "else: raise AssertionError\n"
    )
    run(tmp_path, code)


def test_status_lists_no_patch_of_what_is_not_installed(tmp_path: Path) -> None:
    code = (
        "import agentool_otel\n"
        "agentool_otel.instrument()\n"
        "for it in agentool_otel.status().instrumentors.values():\n"
        "    assert it.installed is not None or it.patches == [], it\n"
    )
    run(tmp_path, code)


def test_status_before_anything_has_no_recording_and_counts_nothing(tmp_path: Path) -> None:
    code = (
        "import agentool_otel; status = agentool_otel.status()\n"
        "assert (status.spans, status.recording, status.masking) == (None, None, None)\n"
        "assert status['spans'] == {} and 'recording' not in status\n"
        "assert status['logs'] == status['metrics'] == {'destination': None}\n"
    )
    run(tmp_path, code)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("instrument('nowhere')", "is not a URL"),
        ("instrument(include=['openai'], exclude=['nope'])", "unknown framework 'nope'"),
        ("instrument(include=['nope'])", "unknown framework 'nope': supported are"),
        ("instrument(include='openai')", "include of instrument() is of type str: give a list"),
        ("instrument(content='false')", "content of instrument() is of type str: give True or"),
        ("instrument(service_name=3)", "service_name of instrument() is of type int: give text"),
    ],
)
def test_a_mistake_is_refused_by_name(tmp_path: Path, call: str, message: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as failed:
        run(tmp_path, f"import agentool_otel; agentool_otel.{call}")
    assert message in failed.value.stderr


def test_an_unreachable_endpoint_delays_exit_by_seconds(tmp_path: Path) -> None:
    code = f"{AGENT}agentool_otel.instrument('http://127.0.0.1:9'); clerk('?')"
    done = run(tmp_path, code, OTEL_METRICS_EXPORTER="none")
    assert "could not be delivered to http://127.0.0.1:9" in done.stderr


@pytest.mark.parametrize("endpoint", ["None", "'http://127.0.0.1:9'", "'grpc://127.0.0.1:9'"])
def test_no_thread_socket_or_file_is_there_before_a_span(tmp_path: Path, endpoint: str) -> None:
    code = (
        "import agentool_otel, os, threading, time; before = len(os.listdir('/proc/self/fd'))\n"
        f"agentool_otel.instrument({endpoint})\n"
        # SDK 1.30 detects resources in a thread; the system takes a moment to forget that one.
        "deadline = time.monotonic() + 5\n"
        "while len(os.listdir('/proc/self/task')) > 1 and time.monotonic() < deadline:\n"
        "    time.sleep(0.01)\n"
        "print(threading.active_count(), len(os.listdir('/proc/self/task')), "
        "len(os.listdir('/proc/self/fd')) - before)"
    )
    if not Path("/proc/self/task").exists():
        pytest.skip("needs /proc")
    assert run(tmp_path, code).stdout.split() == ["1", "1", "0"]
    assert list(tmp_path.iterdir()) == []


def test_importing_the_package_loads_no_sdk_exporter_or_framework(tmp_path: Path) -> None:
    code = (
        "import sys, opentelemetry.trace; before = set(sys.modules)\n"
        "import agentool_otel; agentool_otel.tool, agentool_otel.run\n"
        "heavy = ('opentelemetry.sdk', 'opentelemetry.exporter', 'wrapt', 'openai', 'langchain',\n"
        "         'langgraph', 'grpc', 'google.protobuf', 'rich', 'click', 'requests')\n"
        "print([m for m in set(sys.modules) - before if m.startswith(heavy)])"
    )
    assert run(tmp_path, code).stdout.strip() == "[]"
