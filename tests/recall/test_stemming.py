from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memrpc.recall.stemming import stem

PUBLISHED = """
caresses caress; ponies poni; ties ti; cats cat; feed feed; agreed agre; plastered plaster
bled bled; motoring motor; sing sing; conflated conflat; troubled troubl; sized size; hopping hop
tanned tan; falling fall; hissing hiss; fizzed fizz; failing fail; filing file; happy happi; sky sky
relational relat; conditional condit; rational ration; digitizer digit; radically radic
vileli vile; operator oper; feudalism feudal; decisiveness decis; hopefulness hope; formaliti formal
sensitiviti sensit; triplicate triplic; formative form; electrical electr; revival reviv
allowance allow; inference infer; airliner airlin; adjustable adjust; irritant irrit
replacement replac; adjustment adjust; dependent depend; adoption adopt; communism commun
activate activ; effective effect; bowdlerize bowdler; probate probat; rate rate; cease ceas
controll control; roll roll
"""
"""Examples that the algorithm's author gives, chained through all of its steps."""


@pytest.mark.parametrize("pair", PUBLISHED.strip().replace("\n", ";").split(";"))
def test_the_published_examples_come_out(pair: str) -> None:
    word, expected = pair.split()
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("form", "other"),
    [("went", "going"), ("bought", "buy"), ("mum", "mothers"), ("children", "kid"), ("ran", "run")],
)
def test_irregular_forms_and_everyday_synonyms_share_a_stem(form: str, other: str) -> None:
    assert stem(form) == stem(other)


@given(st.text(string.ascii_lowercase, min_size=1))
def test_every_word_has_a_stem(word: str) -> None:
    assert stem(word)
