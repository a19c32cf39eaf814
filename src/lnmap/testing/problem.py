"""Problems whose answer is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lnmap.embeddings import Embeddings
from lnmap.lexicon import Lexicon


@dataclass(frozen=True)
class Planted:
    """A planted rotation: target = source @ rotation + noise, in another order of words.

    :param lexicon: (w0, w0), (w1, w1), ...: source row i, but not target row i.
    """

    source: Embeddings
    target: Embeddings
    lexicon: Lexicon
    rotation: NDArray[np.float32]

    def tensors(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return copies of the vectors (n, d_s), (n, d_t) and the pairs of rows (n, 2)."""
        x, y = (torch.from_numpy(np.array(side.vectors)) for side in (self.source, self.target))
        return x, y, torch.from_numpy(self.lexicon.rows(self.source, self.target))


def plant(n: int = 500, d: int = 20, noise: float = 0.01, seed: int = 0) -> Planted:
    """Return n words in d dimensions and their rotated copies."""
    rng = np.random.default_rng(seed)
    rotation: Any = np.linalg.qr(rng.normal(size=(d, d)))[0]
    source = rng.normal(size=(n, d))
    target = source @ rotation + noise * rng.normal(size=(n, d))
    words = [f"w{i}" for i in range(n)]
    order = rng.permutation(n)
    return Planted(
        Embeddings.from_arrays(words, source),
        Embeddings.from_arrays([words[i] for i in order], target[order]),
        Lexicon.from_pairs((word, word) for word in words),
        rotation.astype(np.float32),
    )
