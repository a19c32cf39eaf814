"""Mutants that no test can or should notice, each with the reason."""

from __future__ import annotations

_BLOCK = "the size of a block changes no result"
_ANY_NEGATIVE = "NumPy takes any negative length as the one to work out"

ACCEPTED: dict[str, dict[str, str]] = {
    "lexicon": {
        "return np.asarray(known, dtype=np.int64).reshape(-1, 2) => 1 to 2": _ANY_NEGATIVE,
        "return np.asarray(kept, dtype=np.int64).reshape(-1, 2) => 1 to 2": _ANY_NEGATIVE,
    },
    "normalize": {
        "_BLOCK = 8192  # rows taken to double precision at a time => 8192 to 8193": _BLOCK,
    },
}
