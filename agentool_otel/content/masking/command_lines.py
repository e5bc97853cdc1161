"""Credentials on command lines: options, values that are piped in, and arguments in a list.

A new tool is a row of `_COMMANDS`: the words of its command, and its short options that take a
credential. An option in full is judged by its name, as everywhere (`secret_names.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from agentool_otel.content.masking.assignments import quoted_value, value_at
from agentool_otel.content.masking.references import refers
from agentool_otel.content.masking.secret_names import ValueTest, strict, value_test
from agentool_otel.ground import lazy_re as re

__all__ = ["MAY_BE_OPTION", "in_arguments", "in_commands"]

_Span = tuple[int, int]


class _Command(NamedTuple):
    words: frozenset[str]
    """All of them are in the command."""
    options: frozenset[str]
    """Their argument stands behind a blank."""
    glued: frozenset[str]
    """Their argument stands behind the letter itself."""


def _command(words: str, options: str = "", glued: str = "") -> _Command:
    return _Command(*(frozenset(item.split()) for item in (words, options, glued)))


_COMMANDS = (
    _command("mysql", glued="p"),
    _command("mysqldump", glued="p"),
    _command("mysqladmin", glued="p"),
    _command("mariadb", glued="p"),
    _command("mariadb-dump", glued="p"),
    _command("sshpass", "p", "p"),
    *(_command(f"{name} login", "p", "p") for name in ("docker", "podman", "nerdctl", "buildah")),
    *(_command(f"{name} login", "p", "p") for name in ("skopeo", "crane", "oras", "helm")),
    *(_command(f"{name} login", "p") for name in ("az", "oc", "cf", "ibmcloud", "argocd")),
    *(_command(f"mongo{name}", "p") for name in ("", "sh", "dump", "restore", "export", "import")),
    *(_command(name, glued="p") for name in ("7z", "7za", "7zr", "7zz", "unrar")),
    _command("rar", glued="p hp"),
    _command("zip", "P"),
    _command("unzip", "P", "P"),
    *(
        _command(f"ldap{name}", "w", "w")
        for name in ("search", "add", "modify", "delete", "passwd")
    ),
    *(_command(f"ldap{name}", "w", "w") for name in ("whoami", "compare", "modrdn")),
    _command("redis-cli", "a"),
    _command("valkey-cli", "a"),
    _command("cqlsh", "p"),
    _command("sqlcmd", "P", "P"),
    _command("bcp", "P", "P"),
    _command("isql", "P", "P"),
    *(_command(f"mosquitto_{name}", "P") for name in ("pub", "sub", "rr")),
    _command("ipmitool", "P"),
    *(_command(name, "pw") for name in ("plink", "pscp", "psftp")),
    *(_command(name, "p") for name in ("rabbitmqadmin", "netexec", "nxc", "crackmapexec")),
    *(_command(name, "storepass keypass srcstorepass deststorepass") for name in ("keytool",)),
    _command("jarsigner", "storepass keypass"),
)
"""Sources: the manuals of the tools, as of 2026."""
_NAMES = frozenset(word for command in _COMMANDS for word in command.words) - {"login"}
_SHORT = frozenset(option for command in _COMMANDS for option in command.options | command.glued)

_QUOTE = r"\\*[\"']"
_VALUE = r"(?![\-<\[|({$,]|[A-Z][A-Z_\-]+(?![\w!]))"
"""Not another option, a placeholder, or the word in capitals that stands for a value in a help
text."""
_NEXT = rf"{_QUOTE}\s{{0,3}},\s{{0,3}}(?P<quote>{_QUOTE})"
"""The end of an argument in a list, and the beginning of the next one."""
_LONG = re.compile(
    rf"-(?:(?<!\w-)|(?<=--))(?P<name>[A-Za-z][A-Za-z0-9_\-]{{1,40}})"
    rf"(?:[ \t]{{1,3}}(?=[^\s]){_VALUE}|{_NEXT}{_VALUE})"
)
_SHORT_OPTION = re.compile(rf"-(?<=[\s\"']-)(?:{'|'.join(sorted(_SHORT))})")
_END = re.compile(r"[|;&]|\\[nr]|(?<!\\)[\r\n]|\Z")
"""The end of a command: not of one that goes on in the next line."""
_WORD = re.compile(r"[\w.\-]+")
_DASH = re.compile(r"-(?<=[\s\"']-)(?=[A-Za-z])")
_BLANK = re.compile(rf"(?:[ \t]{{1,3}}|{_NEXT})(?=[^\s]){_VALUE}")
_GLUED = re.compile(rf"(?=[^\s\"',\\]){_VALUE}|(?=[\"'][^\s,\]])")
_PORTS = re.compile(r"[0-9]{1,5}(?:[:.\-][0-9]{1,5}){0,4}(?:/[a-z]{3})?\Z")
"""A port, or one that is mapped to another."""

_STDIN_SIGNS = ("-stdin", "--with-token", "--passphrase-fd", "chpasswd", "sudo -S")
_STDIN = rf"(?:{'|'.join(_STDIN_SIGNS)})"
_PIPED = re.compile(
    r"(?:echo|printf)[ \t](?:-[neE]{1,2}[ \t])?"
    rf"(?:(?P<form>{_QUOTE})%s(?:\\{{1,8}}n)?(?P=form)[ \t])?(?P<quote>{_QUOTE})?"
    rf"(?=[^\s|$\"'\\][^\r\n|]{{0,256}}\|[^\r\n|]{{0,120}}?{_STDIN})"
)
_HERE = re.compile(
    rf"--(?:password-stdin|with-token)[^\r\n|;&<]{{0,120}}<<<[ \t]?(?P<quote>{_QUOTE})?"
    r"(?=[^\s$\"'\\])"
)
_PIPED_VALUE = re.compile(r"[^\s|\"'\\]+")

MAY_BE_OPTION = (
    r"(?:(?<![\w\-]-)|(?<=\\[nrt]-))"
    r"(?:[upawPS](?<=[ \"']-\w)|(?:hp|pw)(?<=[ \"']-\w\w)|[sdk][a-z]{2,12}pass |"
    r"-?(?=[A-Za-z])[A-Za-z0-9_\-]{0,20}?"
    r"(?:[Pp]ass|pwd|[Ss]ecret|[Tt]oken|[Kk]ey|[Cc]red|[Aa]uth|user|cookie))"
)
"""Text after a dash that may start an option which `in_commands` finds."""


def in_commands(text: str) -> Iterator[_Span]:
    """Yield the positions of credentials on command lines."""
    if "-" in text:
        yield from _long_options(text)
        if _SHORT_OPTION.search(text) is not None:
            yield from _short_options(text)
        if "<<<" in text:
            yield from _piped_values(text, _HERE)
    if "|" in text and any(sign in text for sign in _STDIN_SIGNS):
        yield from _piped_values(text, _PIPED)


def _long_options(text: str) -> Iterator[_Span]:
    end = 0
    for option in _LONG.finditer(text):
        dash = option.start()
        judge = _judge_of(option["name"], text[max(0, dash - 1) : dash + 1])
        if judge is None or option.end() < end:
            continue
        value = _read(text, option.end(), option["quote"])
        if value is not None:
            end = value[1]
            if judge(text[value[0] : end]):
                yield value


def _judge_of(name: str, dashes: str) -> ValueTest | None:
    """Return the judge of an option's argument: strict where one dash begins the name, as in
    PowerShell, because letters are options there in most other tools."""
    judge = value_test(name)
    if judge is None or dashes == "--":
        return judge
    return strict(judge) if dashes in ("-", " -", "\t-", "\n-", '"-', "'-") else None


def _read(text: str, at: int, quote: str | None) -> _Span | None:
    if not quote:
        return value_at(text, at)
    span = quoted_value(text, at, quote)
    return None if span is None or refers(text, *span) else span


def _short_options(text: str) -> Iterator[_Span]:
    done = read = 0
    for option in _SHORT_OPTION.finditer(text):
        if option.start() < done:
            continue
        begins = _line_begins(text, done, option.start())
        while begins <= option.start():
            end = _END.search(text, begins)
            done = len(text) if end is None else end.start()
            for at, value_ends in _options(text, begins, done, read):
                read = value_ends
                if _no_port(text[at:value_ends]):
                    yield at, value_ends
            begins = done + 1 if end is None else end.end()


def _line_begins(text: str, first: int, at: int) -> int:
    """Return where a line begins that another one may go on in, behind a backslash."""
    end = text.rfind("\n", first, at)
    while end > first and text[end - 1] == "\\":
        end = text.rfind("\n", first, end)
    return first if end < 0 else end + 1


def _options(text: str, begins: int, ends: int, read: int) -> Iterator[_Span]:
    """Yield the arguments of one command that are credentials or ports.

    Args:
        text: all of the text.
        begins: where the command begins.
        ends: where it ends.
        read: where the last argument ends, which may be behind the end of its command.
    """
    commands = _commands(text[begins:ends])
    dash = _DASH.search(text, max(begins, read), ends) if commands else None
    while dash is not None:
        at = dash.end()
        value = _argument(text, at, commands)
        if value is not None:
            yield value
        dash = _DASH.search(text, max(at, value[1] if value else 0), ends)


def _commands(line: str) -> list[_Command]:
    words = set(_WORD.findall(line))
    return (
        []
        if words.isdisjoint(_NAMES)
        else [command for command in _COMMANDS if command.words <= words]
    )


def _argument(text: str, at: int, commands: list[_Command]) -> _Span | None:
    """Return the position of a short option's argument, if it is a credential."""
    for command in commands:
        for option in command.options:
            blank = _BLANK.match(text, at + len(option)) if text.startswith(option, at) else None
            if blank is not None:
                return _read(text, blank.end(), blank["quote"])
        for option in command.glued:
            if text.startswith(option, at) and _GLUED.match(text, at + len(option)) is not None:
                return value_at(text, at + len(option))
    return None


def _piped_values(text: str, before: re.Pattern[str]) -> Iterator[_Span]:
    """Yield the positions of values that are piped into commands, each read once."""
    end = 0
    for match in before.finditer(text):
        if match.end() >= end and (value := _piped_value(text, match)) is not None:
            end = value[1]
            yield value


def _piped_value(text: str, before: re.Match[str]) -> _Span | None:
    if before["quote"]:
        return _read(text, before.end(), before["quote"])
    value = _PIPED_VALUE.match(text, before.end())
    return None if value is None else value.span()


def in_arguments(arguments: Sequence[Any], command: str = "") -> Iterator[int]:
    """Yield which arguments of a command, in a list, are credentials.

    Args:
        arguments: the list, with the command or without.
        command: the command, if it is not in the list.
    """
    for argument in arguments:
        if isinstance(argument, str) and argument[:1] == "-":
            break
    else:
        return
    texts = [argument if isinstance(argument, str) else "" for argument in arguments]
    commands = _commands(" ".join([command, *texts]))
    for at, option in enumerate(texts):
        if option[:1] != "-":
            continue
        glued = (letter for command in commands for letter in command.glued)
        if len(option) > _SHORTEST_GLUED and option.startswith(tuple(glued), 1):
            yield at
            continue
        value = texts[at + 1] if at + 1 < len(texts) else ""
        if value[:1] in ("", "-", "$", "<", "{") or refers(value, 0, len(value)):
            continue
        name = option.lstrip("-")
        judge = _judge_of(name, option[:2] if option[:2] == "--" else "-")
        if judge is None and any(name in command.options for command in commands):
            judge = _no_port
        if judge is not None and judge(value):
            yield at + 1


_SHORTEST_GLUED = 5


def _no_port(value: str) -> bool:
    return _PORTS.match(value) is None
