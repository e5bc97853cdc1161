"""Names of the assertions of cases, one for each type and set of parameters."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from agentool_otel.evaluation.assertion_types import NOT_PARAMETERS
from agentool_otel.evaluation.running import EVERY_TRACE
from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.documents import Assertion, EvalCase, EvalResult

__all__ = ["AssertionNames"]

_LONGEST = 60
"""Characters of the parameters in a name."""


class AssertionNames:
    """Names assertions by their type, and by their parameters where those of a type differ."""

    def __init__(self, documents: Iterable[EvalCase | Assertion] = ()):
        """Take the cases, and the assertions that are for every trace."""
        self._of_case: dict[str, list[tuple[str, str]]] = {}
        self._names: defaultdict[str, dict[str, str]] = defaultdict(dict)
        """By type and parameters."""
        shared: set[str] = set()
        for document in documents:
            if isinstance(document, EvalCase):
                shared |= {document.case_id} & self._of_case.keys()
                self._of_case[document.case_id] = [*map(self._key, document.assertions)]
            else:
                self._of_case.setdefault(EVERY_TRACE, []).append(self._key(document))
        for case_id in shared:
            del self._of_case[case_id]  # its results may be of either case

    def _key(self, assertion: Assertion) -> tuple[str, str]:
        members = assertion.to_dict()
        parameters = {key: members[key] for key in members if key not in NOT_PARAMETERS}
        text = canonical(parameters)
        names = self._names[assertion.type]
        if text not in names:
            name = f"{assertion.type} {text}"
            most = len(assertion.type) + 1 + _LONGEST
            if len(name) > most:
                name = f"{name[:most]}… #{len(names) + 1}"
            names[text] = name
        return assertion.type, text

    def of(self, result: EvalResult) -> Sequence[str]:
        """Return the name of each assertion of a result, in order; its type if its case is not
        known."""
        types = [item.assertion_type for item in result.assertion_results]
        keys = self._of_case.get(result.case_id, [])
        if [kind for kind, _ in keys] != types:
            return types
        return [
            self._names[kind][text] if len(self._names[kind]) > 1 else kind for kind, text in keys
        ]
