"""Results as JUnit XML, which CI servers read: a suite per result, a test case per assertion.

What was not evaluated is skipped. Every suite is written as its result comes, so that memory holds
one. Spec: junit-10.xsd of Jenkins' xUnit plug-in and surefire-test-report.xsd of Maven. Neither has
properties of a test case, so the steps it rests on are its output, which CI servers show.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import BinaryIO
from xml.etree import ElementTree

from agentool_otel.evaluation.reports.result_texts import plain, reason_of, step_ids_of, title_of
from agentool_otel.evaluation.reports.slices import Subject
from agentool_otel.model.documents import UNSET, AssertionResult, EvalResult

__all__ = ["JUnit"]

_BEGINNING = b'<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="agentool-otel eval">\n'
_END = b"</testsuites>\n"


class JUnit:
    """A report in the making."""

    def __init__(self, stream: BinaryIO):
        self._stream = stream
        stream.write(_BEGINNING)

    def add(self, result: EvalResult, subject: Subject) -> None:
        """Write a result."""
        suite = _suite(result)
        ElementTree.indent(suite)
        self._stream.write(ElementTree.tostring(suite, encoding="utf-8") + b"\n")

    def finish(self) -> None:
        """Write the end."""
        self._stream.write(_END)


def _suite(result: EvalResult) -> ElementTree.Element:
    assertion_results = result.assertion_results
    title = plain(title_of(result))
    suite = ElementTree.Element(
        "testsuite",
        name=title,
        tests=str(len(assertion_results)),
        failures=str(sum(1 for item in assertion_results if item.passed is False)),
        skipped=str(sum(1 for item in assertion_results if item.passed is None)),
        errors="0",
        time="0",
    )
    if isinstance(result.evaluated_at, str):
        suite.set("timestamp", plain(result.evaluated_at))
    properties = {
        name: getattr(result, name) for name in ("eval_id", "trace_id", "composite_score")
    }
    _add_properties(
        suite, {k: str(v) for k, v in properties.items() if v is not UNSET and v is not None}
    )
    for n, assertion in enumerate(assertion_results, 1):
        _add_assertion(suite, title, n, assertion)
    return suite


def _add_assertion(
    suite: ElementTree.Element, title: str, n: int, assertion: AssertionResult
) -> None:
    kind = plain(assertion.assertion_type)
    case = ElementTree.SubElement(suite, "testcase", name=f"{n} {kind}", classname=title, time="0")
    reason = plain(reason_of(assertion))
    if assertion.passed is False:
        failure = ElementTree.SubElement(case, "failure", message=reason, type=kind)
        failure.text = reason
    elif assertion.passed is None:
        ElementTree.SubElement(case, "skipped", message=reason)
    if ids := step_ids_of(assertion):
        ElementTree.SubElement(case, "system-out").text = plain(f"steps: {', '.join(ids)}")


def _add_properties(element: ElementTree.Element, values: Mapping[str, str]) -> None:
    if values:
        properties = ElementTree.SubElement(element, "properties")
        for name, value in values.items():
            ElementTree.SubElement(properties, "property", name=name, value=plain(value))
