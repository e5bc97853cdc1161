"""Rules by which a name or a command gives a credential away, over all that the rules name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.masking.command_lines import _COMMANDS, _Command
from agentool_otel.content.masking.credentials import MASK, mask_any, mask_text, masked
from agentool_otel.content.masking.secret_names import QUALIFIERS
from tests.security.masking_examples import ALNUM

pytestmark = pytest.mark.usefixtures("every_search")

SECRETS = st.text(ALNUM, min_size=12, max_size=24).map(lambda item: f"Zk8v{item}Q2mN4xR7")
NAMES = st.sampled_from(["password", "apiKey", "api_key", "client_secret", "passphrase"])
COMMANDS = st.sampled_from(_COMMANDS)


def words(command: _Command) -> list[str]:
    """Return a command's words in order: the tool comes before `login`."""
    return sorted(command.words, key=lambda word: word == "login")


@given(COMMANDS, SECRETS, st.sampled_from(["", "sudo ", "cd /a && /usr/bin/"]))
def test_every_option_of_the_table_takes_a_credential(
    command: _Command, secret: str, before: str
) -> None:
    line = f"{before}{' '.join(words(command))} -v"
    for option in command.options:
        assert mask_text(f"{line} -{option} {secret} x") == f"{line} -{option} {MASK} x"
        listed = [*words(command), f"-{option}", secret, "x"]
        assert json.loads(masked(json.dumps(listed))) == [*listed[:-2], MASK, "x"]
        assert secret not in mask_text(f"run({listed!r})")
    for option in command.glued:
        assert mask_text(f"{line} -{option}{secret} x") == f"{line} -{option}{MASK} x"
        assert secret not in masked(json.dumps([*words(command), f"-{option}{secret}"]))


OTHERS = st.sampled_from(["mkdir", "grep", "ssh", "cp", "docker run", "git", "tar", "python", "ls"])


@given(OTHERS, st.sampled_from("apwP"), SECRETS, st.sampled_from([" ", ""]))
def test_the_same_option_of_another_command_takes_none(
    command: str, option: str, value: str, blank: str
) -> None:
    line = f"{command} -{option}{blank}{value} x"
    assert mask_text(line) == line
    assert json.loads(masked(json.dumps(line.split()))) == line.split()


@given(NAMES, SECRETS, st.lists(st.sampled_from(["-y", "server", "--port", "80", "--v"])))
def test_an_option_named_like_a_credential_takes_the_next_argument(
    name: str, secret: str, before: list[str]
) -> None:
    arguments = [*before, f"--{name}", secret, "--verbose"]
    clean = [*before, f"--{name}", MASK, "--verbose"]
    assert json.loads(masked(json.dumps({"args": arguments}))) == {"args": clean}
    assert mask_any(f"run({arguments!r})") == f"run({clean!r})"


@given(NAMES, st.sampled_from(["--verbose", "$API_KEY", "${API_KEY}", "<key>", "{{ key }}"]))
def test_an_option_without_a_credential_is_left_alone(name: str, value: str) -> None:
    arguments = ["server", f"--{name}", value, "x"]
    assert json.loads(masked(json.dumps(arguments))) == arguments
    assert mask_any(f"run({arguments!r})") == f"run({arguments!r})"


@given(NAMES, st.sampled_from([*QUALIFIERS, "1", "2", "2026"]), st.sampled_from("_-."), SECRETS)
def test_a_qualified_name_is_a_name(name: str, qualifier: str, sign: str, secret: str) -> None:
    qualified = f"{name}{sign}{qualifier}"
    assert mask_text(f"{qualified}: {secret}") == f"{qualified}: {MASK}"
    assert json.loads(masked(json.dumps({qualified: secret}))) == {qualified: MASK}


IDENTIFIERS = st.from_regex(r"[a-z]{1,6}(\.[a-z]{1,8}){0,2}", fullmatch=True)


@given(
    st.sampled_from(["password", "e.password", "user.apiKey", "this.secret", "passphrase"]),
    st.sampled_from(["===", "!==", "==", "!=", "=>", ">=", "<=", " === ", " == ", " != ", " => "]),
    IDENTIFIERS,
    st.sampled_from(["", "?1:0", ")return", "&&e", ",n=1", "(e)", ";", "||null"]),
)
def test_an_operator_of_a_program_assigns_nothing(
    name: str, operator: str, value: str, behind: str
) -> None:
    text = f"if({name}{operator}{value}{behind}"
    assert mask_text(text) == text


@given(NAMES, st.sampled_from(["==", "===", "=>"]), SECRETS, st.sampled_from("'\""))
def test_an_operator_before_a_quoted_credential_does(
    name: str, operator: str, secret: str, quote: str
) -> None:
    text = f"{name} {operator} {quote}{secret}{quote}"
    assert mask_text(text) == text.replace(secret, MASK)


@pytest.mark.parametrize("sentence", ["my {} is {}", "Your {} is: {}.", "the {} is '{}', ok?"])
@given(st.sampled_from(["password", "passphrase", "secret", "api key", "access token"]), SECRETS)
def test_a_sentence_names_a_credential(sentence: str, name: str, secret: str) -> None:
    assert secret not in mask_text(sentence.format(name, secret))


@given(
    st.sampled_from(["password", "passphrase", "api key", "access token", "contraseña", "senha"]),
    st.sampled_from([" is ", ": ", " is: "]),
    st.lists(st.sampled_from(["wrong", "required", "missing", "see docs", "expired", "set-up"])),
)
def test_words_of_a_sentence_are_no_credential(name: str, sign: str, value: list[str]) -> None:
    if name in ("password", "passphrase") and sign != " is ":
        return  # as in a file, where the word is the value
    text = f"The {name}{sign}{' '.join(value)}."
    assert mask_text(text) == text


@given(st.sampled_from(["d", "p", "q", "dp", "dq", "qi", "k"]), SECRETS, st.booleans())
def test_secret_members_of_a_web_key_are_masked(name: str, secret: str, first: bool) -> None:
    secret = secret + secret
    key = {name: secret, "kty": "RSA"} if first else {"kty": "RSA", "e": "AQAB", name: secret}
    assert json.loads(masked(json.dumps({"keys": [key]})))["keys"][0][name] == MASK
    assert secret not in mask_text(f"loaded {key!r}")
    second = {name: secret, "kind": "RSA"}
    assert json.loads(masked(json.dumps(second))) == second
