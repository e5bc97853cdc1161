"""No instrumentor runs code of a value that the user hands to a framework.

Every value of the corpus that has such code goes through the programs of `hostile_uses`, with us
and without us. The outcome is the same, the same methods are called, and none of them by us.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.content.encoding.introspection import type_name
from agentool_otel.testing.loopback_model import LoopbackModel
from tests.guest.hostile import HANGS, TOUCHED, classes
from tests.situations.conftest import Stage
from tests.situations.hostile_uses import USES, Use, missing

pytestmark = pytest.mark.thorough

PLACES = [
    pytest.param(framework, place, id=f"{framework}-{place.replace(' ', '_')}")
    for framework, places in USES.items()
    for place in places
]
KINDS = {
    name: make
    for name, make in classes.KINDS.items()
    if name not in HANGS and "endless" not in name
    if name not in ("lazy object", "exception without text")
}
"""Values whose methods record their callers. For a method that waits for ever there is one that
raises, which is seen as well. Frameworks themselves come to no end with endless values. The
`__str__` of an exception's own class is called (docs/decisions/encoding.md).
"""
NOT_WITH = {"adk": ("mock",)}
"""Values that a framework cannot take: ADK serializes a mock, and all that its attributes return,
until the recursion limit ends that: 9 s and 3 GB each time, with us and without us.
"""


def use_of(framework: str, place: str) -> Use:
    if (module := missing(framework)) is not None:
        pytest.skip(f"{module} is not installed")
    return USES[framework][place]


def outcome(use: Use, make: Callable[[], Any], url: str) -> tuple[str, Counter[str], list[str]]:
    """Return how a use ended, the methods that were called in it, and those that we called."""
    value = make()
    TOUCHED.clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result = use(value, url)
        except BaseException as error:
            ended = f"raised {type_name(type(error))}"
        else:
            ended = f"returned {type_name(type(result))}"
    results = ended, Counter(TOUCHED), list(TOUCHED.ours)
    TOUCHED.clear()
    return results


@pytest.mark.parametrize(("framework", "place"), PLACES)
def test_no_method_of_a_value_is_called_by_us(
    framework: str, place: str, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # pytest would show the value that an exception without a caller is about.
    monkeypatch.setattr(sys, "unraisablehook", lambda _: None)
    use = use_of(framework, place)
    different: dict[str, Any] = {}
    with LoopbackModel() as model:
        for kind, make in KINDS.items():
            if kind in NOT_WITH.get(framework, ()):
                continue
            stage.set()
            ended, touched, ours = outcome(use, make, model.base_url)
            stage.set(attached=False)
            plain_ended, plain_touched, _ = outcome(use, make, model.base_url)
            more = touched - plain_touched
            if ours or more or ended != plain_ended:
                different[kind] = (ended, plain_ended, more, ours)
    assert different == {}


PROGRAM = """
import sys, time
from importlib import import_module
import agentool_otel
from agentool_otel.content.encoding.introspection import type_name
from agentool_otel.testing.loopback_model import LoopbackModel
from tests.guest.hostile.making import called_by_us
from tests.situations.hostile_uses import USES

class Blocking:
    def __getattr__(self, name):
        while called_by_us():
            time.sleep(3600)
        raise AttributeError(name)

agentool_otel.instrument()
with LoopbackModel() as model:
    for place, use in USES[sys.argv[1]].items():
        try:
            use(Blocking(), model.base_url)
        except BaseException as error:
            print(place, type(error).__name__, file=sys.stderr)
print("returned", flush=True)
"""


@pytest.mark.parametrize("framework", USES)
def test_hanging_attributes_do_not_block(framework: str, tmp_path: Path) -> None:
    if (module := missing(framework)) is not None:
        pytest.skip(f"{module} is not installed")
    root = Path(__file__).parent.parent.parent
    program = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{PROGRAM}"]
    done = subprocess.run(
        [*program, framework],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    assert done.stdout.splitlines()[-1:] == ["returned"], done.stderr[-2000:]
