"""The commands by which well-known programs run tests."""

from __future__ import annotations

__all__ = ["TEST_COMMANDS"]

_START = r"(?:^|[\n;&|({])[ \t]*"
"""Where a command begins."""
_VARIABLE = r"\w+=\S*"
_OPTIONS = r"(?:-\S+\s+)*"
_WRAPPERS = (
    rf"(?:sudo|time|env|command|exec|nice|npx|bunx|uvx|xvfb-run|coverage\s+run)\s+{_OPTIONS}(?:-m\s+)?",
    rf"timeout\s+{_OPTIONS}\d\S*\s+",
    rf"(?:uv|poetry|pipenv|hatch|pdm|rye)\s+run\s+{_OPTIONS}",
    rf"(?:pnpm|yarn|npm|bundle)\s+(?:exec|dlx)\s+{_OPTIONS}",
    r"(?:\S*/)?(?:bash|sh|zsh)\s+-\w*c\s+['\"]?",
)
"""Commands that run another one, which follows."""
_FOLDER = r"(?:[^\s'\"`]*/)?"
_PROGRAMS = (
    r"pytest|py\.test|tox|nox|rspec|phpunit|pest|ctest|jest|vitest|mocha|nextest",
    r"(?:python[\d.]*|py)\s+(?:-[^\n;&|]*\s)?-m\s+(?:pytest|unittest|tox|nox|coverage\s+run\s+-m\s+pytest)",
    r"(?:npm|pnpm|yarn|bun|deno)\s+(?:-\S+\s+|run\s+)*(?:tests?|t)",
    r"(?:go|dotnet|swift|mix|rails|bazel|just|task|poe|flutter|dart)\s+test",
    r"cargo\s+(?:\+\S+\s+)?(?:test|t|nextest)",
    r"(?:mvnw?|gradlew?)\s+(?:[^\n;&|]*\s)?:?(?:\w+:)*(?:test|verify|check)",
    r"make\s+(?:[^\n;&|]*\s)?(?:tests?|check)",
    r"(?:rake\s+(?:test|spec)|php\s+artisan\s+test)",
)
TEST_COMMANDS = (
    rf"{_START}(?:(?:{_VARIABLE}\s+)|{'|'.join(_WRAPPERS)})*{_FOLDER}(?:{'|'.join(_PROGRAMS)})\b"
)
"""A regular expression that matches where a program begins, not where its name is an argument: it
finds `cd x && pytest -q`, and nothing in `pip install pytest`."""
