"""Read YAML as JSON values.

Spec: YAML 1.2.2, core schema (10.3): what YAML 1.1 made of `no`, `1:20` and `2026-01-01` stays
text. Tags that would make objects are refused, as are keys that stand twice in a mapping, merge
keys (`<<`), keys that are no scalars, and aliases by which a file stands for more than it holds.
Nothing is expanded before it is measured.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Any, BinaryIO

from agentool_otel.evaluation.cases.case_text import NotParsed, Part
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_places import Path
from agentool_otel.ground.optional import library

__all__ = ["yaml_parts"]

_LARGEST = 1_000_000
"""Values that the documents of a stream may stand for, aliases counted as often as used."""
_DEEPEST = 100
_IN_WORDS = (
    ("'\\t' that cannot start any token", "found a tab"),
    ("unexpected end of stream", "found the end of the file"),
    ("expected <block end>", "found a line in another column than the lines above"),
    ("mapping values are not allowed", "found a colon that is not allowed here"),
)
"""Parts of problems of PyYAML, and what users read."""
_OPENED = (
    ("flow sequence", "bracket"),
    ("flow mapping", "bracket"),
    ("quoted scalar", "quote"),
)
_HINTS = (
    ("a tab", "indent with spaces, not with tabs"),
    ("escape character", "double the backslash"),
    ("opens in", "close the item that is open there"),
    ("the end of the file", "close the bracket that is open"),
    ("in another column", "indent the members of one object alike"),
    ("a colon", "quote a text with a colon and a blank; indent the members of one object alike"),
    ("undefined alias", "quote a text that begins with *"),
    ("cannot start any token", "quote a text that begins so"),
)
_CORE = (
    ("null", r"~|null|Null|NULL|", "~nN\0"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?",
        "-+.0123456789",
    ),
)


def yaml_parts(stream: BinaryIO) -> Iterator[Part]:
    """Yield the documents of a YAML stream.

    What is no YAML becomes a part with a fault, which names line and column, and ends the stream.

    Raises:
        MissingDependencyError: PyYAML is not installed.
    """
    yaml = library("yaml", "a file of cases in YAML", extra="eval", distribution="pyyaml")
    values_left = _LARGEST
    node: Any = None
    try:
        loader = _loader()(stream.read())
        while loader.check_node():
            node = loader.get_node()
            value = loader.construct_document(node)
            values_left -= _size(value, values_left)
            if value is not None:
                yield Part(value, partial(_line_of, node))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None) or getattr(node, "start_mark", None)
        line = 1 if mark is None else mark.line + 1
        problem = _problem(error)
        yield Part(None, lambda _: line, NotParsed("YAML", problem, _hint(problem)))


def _problem(error: Any) -> str:
    """Return the problem of a text and its column, in one line."""
    problem = getattr(error, "problem", None)
    mark, begin = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    if problem is None or mark is None:
        return " ".join(str(error).replace('in "<byte string>", ', "at ").split())
    problem = next((ours for theirs, ours in _IN_WORDS if theirs in problem), problem)
    problem = problem.replace("'<stream end>'", "the end of the file")
    problem = problem.replace("the node content", "a value")
    place = f"column {mark.column + 1}"
    opened = next((ours for theirs, ours in _OPENED if theirs in (error.context or "")), "")
    if opened and begin is not None:
        place += f"; the {opened} opens in line {begin.line + 1}, column {begin.column + 1}"
    return f"{problem} ({place})"


def _hint(problem: str) -> str:
    return next((hint for word, hint in _HINTS if word in problem), "")


def _line_of(node: Any, path: Path) -> int:
    """Return the line, from 1, of a member or an item below a node; the line of its parent if the
    path leads nowhere.
    """
    line: int = node.start_mark.line + 1
    for step in path:
        at, child = None, None
        if isinstance(step, int) and node.id == "sequence" and step < len(node.value):
            at = child = node.value[step]
        elif node.id == "mapping":
            for key, value in node.value:
                if key.value == step:
                    at, child = key, value
        if at is None:
            break
        line, node = at.start_mark.line + 1, child
    return line


@cache
def _loader() -> Any:
    """Build the loader class; PyYAML is an optional dependency."""
    import yaml

    resolvers = {  # PyYAML's are shared by all loaders
        "yaml_implicit_resolvers": {},
        "yaml_constructors": dict(yaml.SafeLoader.yaml_constructors),
    }
    Loader: Any = type("Loader", (yaml.SafeLoader,), resolvers)

    def integer(loader: Any, node: Any) -> int:
        text = loader.construct_scalar(node)
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)

    def decimal(loader: Any, node: Any) -> float:
        return float(loader.construct_scalar(node))

    def text(loader: Any, node: Any) -> str:
        scalar: str = loader.construct_scalar(node)
        if scalar.isascii():
            return scalar
        # JSON in YAML writes a character beyond the first 65,536 as two escapes, YAML as one.
        return scalar.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def mapping(loader: Any, node: Any) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if refusal := _refused_key(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, refusal, key_node.start_mark)
            key = loader.construct_object(key_node, deep=True)
            if not isinstance(key, str):
                key = str(key_node.value)
            if key in members:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {key!r} stands here twice", key_node.start_mark
                )
            members[key] = loader.construct_object(value_node, deep=True)
        return members

    for name, pattern, beginnings in _CORE:
        tag = f"tag:yaml.org,2002:{name}"
        Loader.add_implicit_resolver(tag, re.compile(f"(?:{pattern})$"), list(beginnings))
    Loader.yaml_implicit_resolvers.setdefault("", []).append(
        ("tag:yaml.org,2002:null", re.compile("$"))
    )
    for kind in ("timestamp", "binary", "set", "omap", "pairs"):
        Loader.yaml_constructors.pop(f"tag:yaml.org,2002:{kind}")
    Loader.add_constructor("tag:yaml.org,2002:str", text)
    Loader.add_constructor("tag:yaml.org,2002:int", integer)
    Loader.add_constructor("tag:yaml.org,2002:float", decimal)
    Loader.add_constructor("tag:yaml.org,2002:map", mapping)
    return Loader


def _refused_key(node: Any, scalar: type) -> str | None:
    """Return why a node cannot be a key of a mapping; None if it can."""
    if not isinstance(node, scalar):
        return "a key is a list or a mapping; JSON has only texts as keys"
    scalar_node: Any = node
    if scalar_node.value == "<<" and scalar_node.style is None:
        return (
            "<< is a merge key, which YAML 1.2 does not have: write its members out, or quote it "
            "where it is a name"
        )
    return None


def _size(document: Any, most: int) -> int:
    """Return how many values a document expands to.

    Raises:
        ValueError: there are more than `most`, or the document contains itself.
    """
    sizes: dict[int, int] = {}

    def size(value: Any, depth: int) -> int:
        if not isinstance(value, (dict, list)):
            return 1
        if depth > _DEEPEST:
            raise ValueError(f"it is nested deeper than {_DEEPEST} levels, or holds itself")
        if (cached := sizes.get(id(value))) is None:
            members: Any = value.values() if isinstance(value, dict) else value
            cached = sizes[id(value)] = 1 + sum(size(member, depth + 1) for member in members)
        if cached > most:
            raise ValueError(f"its aliases expand to more than {_LARGEST:,} values")
        return cached

    return size(document, 0)
