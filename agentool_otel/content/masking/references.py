"""References, placeholders and expressions in the place of a credential."""

from __future__ import annotations

from agentool_otel.content.masking.secret_names import value_test
from agentool_otel.ground import lazy_re as re

__all__ = ["is_template", "names_value", "refers", "stands_for_value"]

_SCHEMES = r"(?i:bearer|basic|token|digest|negotiate|api-?key|key|jwt|oauth|bot)"
"""Schemes that stand before a credential in a header. Source: RFC 9110, 11.1, and the vendors."""
_NO_VALUE = re.compile(
    # A place to fill in, a reference to a variable, a call, the name of a type: none of them is it.
    r"\*\*|\{|<[A-Za-z][A-Za-z_ \-]{0,40}>|\([A-Za-z_ ,\-]{0,40}\)"
    r"|\$(?:[A-Za-z_]\w{0,64}(?!\w)|\{\w{1,64}\}|[({])(?<!\$\{)|\$\{\{"
    r"|(?i:string|none|null|true|false|undefined|optional|required)(?![^\s\"',;&)}\]])"
    r"|[A-Za-z_][\w.]{0,64}[(\[][^\r\n)\]]{0,200}[)\]]"
    # Programs: a keyword, a type, a function, a member of an object, a parameter of a statement.
    r"|(?:void|await|async|function|new|lambda|typeof|return|raise|throw|break|continue|yield|bytes|"
    r"SecretStr|nil|NULL|char)"
    r"(?![^\s\"',;&)}\]*<])"
    r"|[A-Z][A-Za-z]{1,20}<[A-Za-z\"']|!!|<%|%\(|`[^`\r\n]{0,200}?\$\{|[A-Za-z_$]=[A-Za-z_$]"
    r"|[a-z\-]{1,40}=[\"']"
    r"|[&*](?:'[a-z]{1,9} )?(?:mut )?(?:str|string|String)(?!\w)|[A-Za-z_$][\w$]{0,40}=>"
    r"|[A-Za-z_$]\?|[:@][A-Za-z_]{1,40}(?=[\s,;)\]]|\Z)"
    r"|(?:[A-Za-z_$]|this|self|req(?:uest)?|args|opts|options|cfg|conf|config|settings|props|state|"
    r"data|params|user|form|event|input|env|ctx|context|body|payload|process|row|account)"
    r"(?:\.[A-Za-z_$]{1,40}[0-9]?){1,6}(?=[\s\"',;&|?:)}\]]|\Z)"
)
_REFERENCE = re.compile(
    r"\$(?:[A-Z_][A-Z0-9_]{0,64}|\{[A-Za-z_][\w.]{0,64}\}|\([^()\r\n]{0,200}\))"
    r"|\$?\{\{[^{}]{0,200}\}\}|<[a-z][a-z_ \-]{0,40}>|<%[^%\r\n]{0,200}%>|%\([a-z_]{1,40}\)s"
    rf"|{_SCHEMES}[ \t]{{1,3}}"
    r"(?:\$?\{[^{}]{0,200}\}|%s|%\([a-z_]{1,40}\)s|\$[A-Za-z_]\w{0,64})?"
)
"""All of a value in quotes that refers to the credential."""
_NAMED_BEHIND_SCHEME = re.compile(rf"{_SCHEMES}[ \t]{{1,3}}(?:\$\{{?[A-Za-z_]|\{{|%s|<[A-Za-z])")
_TEMPLATE = re.compile(
    rf"(?:{_SCHEMES}[ ]{{1,3}})?(?:[^{{}}\w]{{0,8}}\{{[^{{}}]{{0,64}}\}}){{1,8}}[^{{}}\w]{{0,8}}"
)
"""All of an f-string in which nothing but other values stands."""
_LONGEST_REFERENCE = 210
_NAME = re.compile(r"[A-Za-z_][A-Za-z_.]{0,64}(?=[\s\"',;&|?)}\]]|\Z)")
"""A value that may be the name of another variable."""


def stands_for_value(text: str, at: int) -> bool:
    """Return whether something else than a credential begins at a place, unquoted."""
    if _NO_VALUE.match(text, at) is not None or names_value(text, at):
        return True
    other = _NAME.match(text, at)
    return other is not None and value_test(other[0]) is not None


def names_value(text: str, at: int) -> bool:
    """Return whether a scheme and the name of a credential begin at a place, unquoted."""
    return _NAMED_BEHIND_SCHEME.match(text, at) is not None


def refers(text: str, begins: int, ends: int) -> bool:
    """Return whether a value, in quotes, is a reference to a credential or a placeholder of it."""
    return (
        ends - begins <= _LONGEST_REFERENCE and _REFERENCE.fullmatch(text[begins:ends]) is not None
    )


def is_template(text: str, begins: int, ends: int) -> bool:
    """Return whether an f-string has nothing but other values and a scheme before them."""
    return (
        ends - begins <= _LONGEST_REFERENCE and _TEMPLATE.fullmatch(text[begins:ends]) is not None
    )
