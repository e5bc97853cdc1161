"""Results as JUnit XML, which CI servers read: a suite per result, a test case per assertion.

What was not evaluated is skipped. Spec: the de-facto format of Jenkins' JUnit plug-in.
"""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from msgspec import UNSET

from agentool_otel.model.documents import AssertionResult, EvalResult

__all__ = ["JUnit"]

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML 1.0 has no form for, escaped or not."""


class JUnit:
    """A report in the making."""

    def __init__(self) -> None:
        self._root = ElementTree.Element("testsuites", name="agentool-otel eval")

    def add(self, result: EvalResult) -> None:
        """Add a result."""
        held = result.assertion_results
        suite = ElementTree.SubElement(
            self._root,
            "testsuite",
            name=_clean(_title(result)),
            tests=str(len(held)),
            failures=str(sum(1 for it in held if it.passed is False)),
            skipped=str(sum(1 for it in held if it.passed is None)),
            errors="0",
        )
        if result.evaluated_at is not UNSET:
            suite.set("timestamp", str(result.evaluated_at))
        properties = ElementTree.SubElement(suite, "properties")
        for name in ("eval_id", "trace_id", "composite_score"):
            value = getattr(result, name)
            if value is not UNSET and value is not None:
                ElementTree.SubElement(properties, "property", name=name, value=_clean(str(value)))
        for n, assertion in enumerate(held, 1):
            _add_assertion(suite, result, n, assertion)

    def to_bytes(self) -> bytes:
        """Return the report as XML in UTF-8."""
        ElementTree.indent(self._root)
        text: bytes = ElementTree.tostring(self._root, encoding="utf-8", xml_declaration=True)
        return text


def _add_assertion(suite: Any, result: EvalResult, n: int, assertion: AssertionResult) -> None:
    name = f"{n} {assertion.assertion_type}"
    case = ElementTree.SubElement(
        suite, "testcase", name=_clean(name), classname=_clean(_title(result)), time="0"
    )
    reason = _clean(str(assertion.reason)) if assertion.reason is not UNSET else ""
    if assertion.passed is False:
        ElementTree.SubElement(case, "failure", message=reason).text = reason
    elif assertion.passed is None:
        ElementTree.SubElement(case, "skipped", message=reason)


def _title(result: EvalResult) -> str:
    if isinstance(result.trace_id, str):
        return f"{result.case_id} [{result.trace_id}]"
    return result.case_id


def _clean(text: str) -> str:
    return _NO_XML.sub("\ufffd", text)
