"""Cost of an expression, in steps instead of time.

`CountedPattern` stands in for a compiled expression. It returns what the real one returns, and goes
the same way by itself, by trial and error as the standard library's engine does: a step for each
character that is compared, each place that is tried and each way that is gone back. That both come
to the same match is checked every time.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

if sys.version_info >= (3, 11):
    from re import _constants as sre  # type: ignore[attr-defined]  # what `re` itself parses with
    from re import _parser as parser  # type: ignore[attr-defined]
else:
    import sre_constants as sre
    import sre_parse as parser

__all__ = ["CountedPattern", "Steps", "TooMuchWork", "letters", "shortest"]


_DEPTH = 20_000
"""Calls that a match may be deep: a few for each character that an expression takes."""


class TooMuchWork(Exception):
    """More steps than a test waits for."""


class Steps:
    """A counter that all expressions of a measurement share."""

    def __init__(self) -> None:
        self.taken = 0
        self.most = sys.maxsize

    def take(self, steps: int) -> None:
        self.taken += steps
        if self.taken > self.most:
            raise TooMuchWork(f"{self.taken} steps")


class CountedPattern:
    """A compiled expression over text whose steps are counted."""

    def __init__(self, pattern: re.Pattern[str], steps: Steps):
        tree: Any = parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE)
        self._real = pattern
        self._steps = steps
        self._run = _Engine(steps).sequence(tree, pattern.flags)
        self._prefix = _literal_prefix(tree) if not pattern.flags & re.IGNORECASE else ""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def match(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        match = self._real.match(text, at, end)
        self._check(match, self._ends(text, at, end), at)
        return match

    def fullmatch(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        match = self._real.fullmatch(text, at, end)
        self._check(match, self._ends(text, at, min(end, len(text)), complete=True), at)
        return match

    def search(self, text: str, at: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        match = self._real.search(text, at, end)
        for start in self._starts(text, at, min(end, len(text))):
            ends = self._ends(text, start, end)
            if ends is not None:
                self._check(match, ends, start)
                return match
        self._check(match, None, at)
        return match

    def findall(self, text: str) -> list[Any]:
        return [match[match.re.groups and 1] or "" for match in self.finditer(text)]

    def finditer(self, text: str, at: int = 0) -> Iterator[re.Match[str]]:
        while at <= len(text) and (match := self.search(text, at)) is not None:
            yield match
            at = match.end() + (match.end() == match.start())

    def sub(self, by: str, text: str) -> str:
        for _ in self.finditer(text):
            pass
        return self._real.sub(by, text)

    def _starts(self, text: str, at: int, end: int) -> Iterator[int]:
        """Yield the places at which it may match; others cost a step each."""
        text = str(text)[:end]
        for start in range(at, end + 1) if not self._prefix else _found(self._prefix, text, at):
            self._steps.take(start + 1 - at)
            at = start + 1
            yield start
        self._steps.take(max(0, end - at))

    def _ends(self, text: str, at: int, end: int, complete: bool = False) -> int | None:
        state = _State(str(text)[:end])
        last = len(state.text)
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(_DEPTH)
        try:
            return self._run(
                state, at, lambda _, place: place if place == last or not complete else None
            )
        finally:
            sys.setrecursionlimit(limit)

    def _check(self, real: re.Match[str] | None, ends: int | None, start: int) -> None:
        expected = None if real is None else real.span()
        gone = None if ends is None else (start, ends)
        assert gone == expected, (self._real.pattern, gone, expected)


def _literal_prefix(tree: Any) -> str:
    letters: list[str] = []
    for op, value in tree:
        if op is not sre.LITERAL:
            break
        letters.append(chr(value))
    return "".join(letters)


def _found(prefix: str, text: str, at: int) -> Iterator[int]:
    while (at := text.find(prefix, at)) >= 0:
        yield at
        at += 1


# ---------------------------------------------------------------------------------- the engine


class _State:
    """Of one attempt: the text, and where its groups are."""

    def __init__(self, text: str):
        self.text = text
        self.groups: dict[int, tuple[int, int]] = {}


_Next = Callable[[_State, int], "int | None"]
_Node = Callable[[_State, int, _Next], "int | None"]
"""Matches at a place and continues; returns where all of it ends, None if nowhere."""


_ONE_CHARACTER = (sre.LITERAL, sre.NOT_LITERAL, sre.IN, sre.ANY)


class _Engine:
    """Makes functions of a parsed expression."""

    def __init__(self, steps: Steps):
        self._steps = steps

    def sequence(self, tree: Any, flags: int) -> _Node:
        nodes = [self._node(op, value, flags) for op, value in tree]
        if len(nodes) == 1:
            return nodes[0]

        def run(state: _State, at: int, after: _Next, number: int = 0) -> int | None:
            if number == len(nodes):
                return after(state, at)
            return nodes[number](state, at, lambda item, place: run(item, place, after, number + 1))

        return run

    def _node(self, op: Any, value: Any, flags: int) -> _Node:
        if op in _ONE_CHARACTER:
            return self._character(_tests(op, value, flags))
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            return self._repeat(value, flags, op is sre.MAX_REPEAT)
        make: dict[Any, Callable[[Any, int], _Node]] = {
            sre.SUBPATTERN: self._group,
            sre.BRANCH: self._branch,
            sre.AT: self._place,
            sre.ASSERT: self._look,
            sre.ASSERT_NOT: self._look_not,
            sre.GROUPREF: self._reference,
        }
        return make[op](value, flags)

    def _character(self, test: Callable[[str], bool]) -> _Node:
        def run(state: _State, at: int, after: _Next) -> int | None:
            self._steps.take(1)
            if at < len(state.text) and test(state.text[at]):
                return after(state, at + 1)
            return None

        return run

    def _repeat(self, value: Any, flags: int, greedy: bool) -> _Node:
        least, most, tree = value
        op, member = tree[0]
        if len(tree) == 1 and op in _ONE_CHARACTER:
            run_of = self._run_of if greedy else self._lazy_run_of
            return run_of(_tests(op, member, flags), least, int(most))
        body = self.sequence(tree, flags)

        def run(
            state: _State, at: int, after: _Next, count: int = 0, since: int = -1
        ) -> int | None:
            self._steps.take(1)

            def again() -> int | None:
                if count >= int(most) or at == since:
                    return None
                return body(state, at, lambda item, place: run(item, place, after, count + 1, at))

            def enough() -> int | None:
                return after(state, at) if count >= least else None

            ways = (again, enough) if greedy else (enough, again)
            return next((end for way in ways if (end := way()) is not None), None)

        return run

    def _run_of(self, test: Callable[[str], bool], least: int, most: int) -> _Node:
        """As many characters as there are, then one less each time."""

        def run(state: _State, at: int, after: _Next) -> int | None:
            text, end = state.text, at
            last = min(len(text), at + most)
            while end < last and test(text[end]):
                end += 1
            self._steps.take(end - at + 1)
            while end >= at + least:
                self._steps.take(1)
                result = after(state, end)
                if result is not None:
                    return result
                end -= 1
            return None

        return run

    def _lazy_run_of(self, test: Callable[[str], bool], least: int, most: int) -> _Node:
        """As few characters as there must be, then one more each time."""

        def run(state: _State, at: int, after: _Next) -> int | None:
            text, end = state.text, at
            while end - at <= most:
                self._steps.take(1)
                result = after(state, end) if end - at >= least else None
                if result is not None:
                    return result
                if end == len(text) or not test(text[end]):
                    return None
                end += 1
            return None

        return run

    def _group(self, value: Any, flags: int) -> _Node:
        number, more, less, tree = value
        body = self.sequence(tree, (flags | more) & ~less)

        def run(state: _State, at: int, after: _Next) -> int | None:
            def close(state: _State, count: int) -> int | None:
                before = state.groups.get(number)
                state.groups[number] = (at, count)
                end = after(state, count)
                if end is None:
                    state.groups.pop(number)
                    if before is not None:
                        state.groups[number] = before
                return end

            return body(state, at, after if number is None else close)

        return run

    def _branch(self, value: Any, flags: int) -> _Node:
        ways = [self.sequence(tree, flags) for tree in value[1]]

        def run(state: _State, at: int, after: _Next) -> int | None:
            self._steps.take(len(ways))
            return next((end for way in ways if (end := way(state, at, after)) is not None), None)

        return run

    def _place(self, value: Any, flags: int) -> _Node:
        def run(state: _State, at: int, after: _Next) -> int | None:
            self._steps.take(1)
            return after(state, at) if _is_at(value, state.text, at, flags) else None

        return run

    def _look(self, value: Any, flags: int, wanted: bool = True) -> _Node:
        direction, tree = value
        body = self.sequence(tree, flags)
        back = tree.getwidth()[0] if direction < 0 else 0

        def run(state: _State, at: int, after: _Next) -> int | None:
            inner = at >= back and body(state, at - back, lambda _, place: place) is not None
            return after(state, at) if inner == wanted else None

        return run

    def _look_not(self, value: Any, flags: int) -> _Node:
        return self._look(value, flags, wanted=False)

    def _reference(self, value: Any, flags: int) -> _Node:
        def run(state: _State, at: int, after: _Next) -> int | None:
            if value not in state.groups:
                return None
            same = state.text[slice(*state.groups[value])]
            self._steps.take(len(same) + 1)
            return after(state, at + len(same)) if state.text.startswith(same, at) else None

        return run


def _is_at(place: Any, text: str, at: int, flags: int) -> bool:
    if place in (sre.AT_BOUNDARY, sre.AT_NON_BOUNDARY):
        before = at > 0 and _is_word(text[at - 1])
        behind = at < len(text) and _is_word(text[at])
        return (before != behind) == (place is sre.AT_BOUNDARY)
    if place in (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING):
        lines = place is sre.AT_BEGINNING and flags & re.MULTILINE
        return at == 0 or bool(lines and text[at - 1] == "\n")
    if place is sre.AT_END_STRING:
        return at == len(text)
    remainder = text[at : at + 2]
    return remainder in ("", "\n") or bool(flags & re.MULTILINE and remainder[0] == "\n")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_CATEGORIES: dict[Any, Callable[[str], bool]] = {
    sre.CATEGORY_WORD: _is_word,
    sre.CATEGORY_NOT_WORD: lambda item: not _is_word(item),
    sre.CATEGORY_SPACE: str.isspace,
    sre.CATEGORY_NOT_SPACE: lambda item: not item.isspace(),
    sre.CATEGORY_DIGIT: str.isdecimal,
    sre.CATEGORY_NOT_DIGIT: lambda item: not item.isdecimal(),
}


def _tests(op: Any, value: Any, flags: int) -> Callable[[str], bool]:
    """Return whether a character is one of those meant, remembered for each."""
    names: dict[str, bool] = {}

    def test(character: str) -> bool:
        if character not in names:
            forms = {character}
            if flags & re.IGNORECASE:
                forms |= {character.lower()[:1], character.upper()[:1]}
            names[character] = any(_is_one(op, value, form, flags) for form in forms)
        return names[character]

    return test


def _is_one(op: Any, value: Any, character: str, flags: int) -> bool:
    if op is sre.ANY:
        return bool(flags & re.DOTALL) or character != "\n"
    if op in (sre.LITERAL, sre.NOT_LITERAL):
        return (character == chr(value)) == (op is sre.LITERAL)
    negated = value[0][0] is sre.NEGATE
    result = any(_is_within(op, item, character) for op, item in value[negated:])
    return result != negated


def _is_within(op: Any, value: Any, character: str) -> bool:
    if op is sre.CATEGORY:
        return _CATEGORIES[value](character)
    low, high = value if op is sre.RANGE else (value, value)
    return int(low) <= ord(character) <= int(high)


# -------------------------------------------------------------------------- texts to try it on


def letters(pattern: re.Pattern[str]) -> list[str]:
    """Return one character of each kind in an expression, in its order."""
    return list(dict.fromkeys(_letters(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))))


def shortest(pattern: re.Pattern[str]) -> str:
    """Return roughly the shortest text that it matches."""
    return _shortest(parser.parse(pattern.pattern, pattern.flags & ~re.UNICODE))


_OF_CATEGORIES = {sre.CATEGORY_SPACE: " ", sre.CATEGORY_DIGIT: "1", sre.CATEGORY_WORD: "a"}


def _letters(tree: Any) -> Iterator[str]:
    for op, value in tree:
        if op in (sre.LITERAL, sre.NOT_LITERAL):
            yield chr(value)
        elif op is sre.RANGE:
            yield chr(value[0])
        elif op is sre.CATEGORY:
            yield _OF_CATEGORIES.get(value, "-")
        elif op is sre.IN:
            yield from _letters(value)
        else:
            for inner in _trees(op, value):
                yield from _letters(inner)


def _shortest(tree: Any) -> str:
    text = ""
    for op, value in tree:
        if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
            text += _shortest(value[2]) * value[0]
        elif op is sre.IN and value[0][0] is not sre.NEGATE:
            text += next(_letters(value), "a")
        elif op in _ONE_CHARACTER:
            text += chr(value) if op is sre.LITERAL else "a"
        elif op in (sre.SUBPATTERN, sre.BRANCH):
            text += _shortest(_trees(op, value)[0])
    return text


def _trees(op: Any, value: Any) -> list[Any]:
    """Return the parts of an expression that one of its parts consists of."""
    if op is sre.BRANCH:
        return list(value[1])
    if op in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        return [value[2]]
    if op is sre.SUBPATTERN:
        return [value[3]]
    return [value[1]] if op in (sre.ASSERT, sre.ASSERT_NOT) else []
