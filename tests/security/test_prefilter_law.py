"""What the exact search masks, the prefilter sees: on texts near credentials, the same every run.

`.ci/nightly prefilter` has a hundred times as many, other ones each night.
"""

from __future__ import annotations

import pytest

from agentool_otel.content.masking.credentials import masked
from agentool_otel.ground.json_codec import dumps
from tests.prefilters import Look, in_force, law
from tests.security.masking_examples import CREDENTIALS, IN_CLEAR, Example
from tests.security.mutated_texts import mutated_texts
from tests.security.named_examples import NAMED, ORDINARY


def test_no_text_that_is_masked_is_missed(prefilter_look: Look) -> None:
    result = law(prefilter_look, seed=1, count=2000)
    assert result.missed == []
    assert result.masked > 300, "texts without credentials prove nothing"


def test_what_is_left_of_a_text_does_not_depend_on_the_look(prefilter_look: Look) -> None:
    texts = [*mutated_texts(2, 1500)]
    results = [{"text": text, "others": [text] * 9} for text in texts]  # many are masked together
    outcomes = []
    for look in (None, prefilter_look):
        with in_force(look):
            outcomes.append([masked(dumps(result)) for result in results])
    assert outcomes[0] == outcomes[1]


def test_a_look_that_misses_a_rule_breaks_the_law(prefilter_look: Look) -> None:
    def without_passwords(text: bytes) -> bool:
        return b"password" not in text and prefilter_look(text)

    assert law(without_passwords, seed=1, count=500).missed


@pytest.mark.parametrize(
    "example",
    [item for item in (*CREDENTIALS, *NAMED) if item.kind not in IN_CLEAR],
    ids=lambda item: item.kind[:40],
)
def test_every_example_is_seen(prefilter_look: Look, example: Example) -> None:
    assert prefilter_look(example.text.encode())


def test_most_ordinary_texts_are_not_seen(prefilter_look: Look) -> None:
    seen = [text for text in ORDINARY if prefilter_look(text.encode())]
    assert len(seen) < len(ORDINARY) / 2


def test_the_same_seed_gives_the_same_texts() -> None:
    assert list(mutated_texts(7, 20)) == list(mutated_texts(7, 20))
    assert list(mutated_texts(7, 20)) != list(mutated_texts(8, 20))
