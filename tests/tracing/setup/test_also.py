"""`also=`: the vocabulary beside ours, named in code, by a variable or by `run`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.cli.conftest import agentool
from tests.tracing.export.receiver import HttpReceiver, spans_in
from tests.tracing.setup.test_setup import AGENT, JOIN, run

RUN = "agentool_otel.flush()\n"


def shown(receiver: HttpReceiver) -> dict[str, str]:
    """Return the displayed input of each agent that arrived; empty without the names."""
    results: dict[str, str] = {}
    for body in receiver.bodies["/v1/traces"]:
        for span in spans_in(body):
            string_values = {
                attribute.key: attribute.value.string_value for attribute in span.attributes
            }
            if span.name.startswith("invoke_agent"):
                results[string_values.get("input.value", "")] = string_values.get(
                    "openinference.span.kind", ""
                )
    return results


def test_a_second_call_changes_it_only_where_it_names_it(tmp_path: Path) -> None:
    code = """
import json, os
from agentool_otel.tracing.capture.context import child_environment
instrument = agentool_otel.instrument
instrument(ENDPOINT, content=True, also="openinference"); clerk("named")
instrument(service_name="x"); clerk("stays")
print(json.dumps(child_environment({}).get("AGENTOOL_ALSO")))
try: instrument(also="phoenix")
except Exception as error: print(json.dumps(f"{type(error).__name__}: {error}"))
clerk("stays after that")
instrument(also="none"); clerk("gone")
agentool_otel.uninstrument(); os.environ["AGENTOOL_ALSO"] = "openinference"
instrument(ENDPOINT, content=True); clerk("by the variable")
"""
    with HttpReceiver() as receiver:
        code = f"ENDPOINT = {receiver.endpoint!r}\n{AGENT}{code}{RUN}"
        handed, refused = map(json.loads, run(tmp_path, code).stdout.splitlines())
        assert shown(receiver) == {
            **dict.fromkeys(["named", "stays", "stays after that", "by the variable"], "AGENT"),
            "": "",
        }
    assert handed == "openinference"
    assert refused == (
        "ConfigurationError: also=phoenix is not supported: use openinference, or none"
    )


def test_spans_sent_by_the_application_lack_the_names(tmp_path: Path) -> None:
    code = f"{JOIN}agentool_otel.instrument(also='openinference')\nclerk('?')\n"
    assert "not sent by agentool_otel" in run(tmp_path, f"{AGENT}{code}").stderr


def test_an_unknown_name_is_refused_with_a_recording(tmp_path: Path) -> None:
    done = run(tmp_path, f"{AGENT}agentool_otel.instrument()", AGENTOOL_ALSO="phoenix")
    assert "AGENTOOL_ALSO=phoenix is not supported: use openinference, or none" in done.stderr


def test_run_hands_it_to_every_process(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(f"{AGENT}if __name__ == '__main__': clerk('from run')\n")
    with HttpReceiver() as receiver:
        options = ("--endpoint", receiver.endpoint, "--content", "--also", "openinference")
        done = agentool("run", *options, "--", sys.executable, "app.py", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert shown(receiver) == {"from run": "AGENT"}
    refused = agentool("run", "--also", "phoenix", "--", sys.executable, "app.py", cwd=tmp_path)
    assert (refused.returncode, "--also=phoenix is not" in refused.stderr) == (2, True)
