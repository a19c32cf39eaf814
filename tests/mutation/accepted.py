"""Mutants that no test can or should notice, each with the reason."""

from __future__ import annotations

_BLOCK = "the size of a block changes no result"
_SEED = "any seed will do, as long as it stays the same"
_ANY_NEGATIVE = "NumPy takes any negative length as the one to work out"

ACCEPTED: dict[str, dict[str, str]] = {
    "lexicon": {
        "return np.asarray(known, dtype=np.int64).reshape(-1, 2) => 1 to 2": _ANY_NEGATIVE,
        "return np.asarray(kept, dtype=np.int64).reshape(-1, 2) => 1 to 2": _ANY_NEGATIVE,
    },
    "evaluate.groups": {
        "np.asarray([_holds(words, row.source) for row, words in zip(rows, found, strict=True)], dtype=np.bool_)"
        " => True to False": "both are made from the same rows, so they have one length",
    },
    "evaluate.scores": {
        "_RESAMPLES = 1000 => 1000 to 1001": "one resample more moves an interval by less than its own noise",
        "padded = torch.tensor([rows + [-1] * (width - len(rows)) for rows in wanted.values()], device=words.device)"
        " => 1 to 2": "any negative row stands for none",
        "for (word, right), rank, answer, own in zip(wanted.items(), ranks, hits.rows.tolist(), sure, strict=True):"
        " => True to False": "all have one entry per word",
        "def compare(a: Evaluation, b: Evaluation, level: float = 0.95, seed: int = 0) -> Comparison: => 0 to 1": _SEED,
    },
    "induce": {
        "_SHORTLIST = 32  # nearest candidates kept for each word, among which its best one by CSLS nearly always is"
        " => 32 to 33": "a longer list is slower, not better",
        "_ROWS = 8192  # lists looked at together => 8192 to 8193": _BLOCK,
        'source, target, max(_SHORTLIST, neighbours + 1, count), title="inducing", **kwargs => 1 to 2': "a longer list",
        "forward = _best(source[:max_rank], target, r_target / -2, near, backward_near, count, **kwargs)"
        " => slice dropped": "only the words that have lists are looked at",
        "backward = _best(target[:max_rank], source, r_source / -2, near, forward_near, count, chosen, **kwargs)"
        " => slice dropped": "only the words that have lists are looked at",
    },
    "normalize": {
        "_BLOCK = 8192  # rows taken to double precision at a time => 8192 to 8193": _BLOCK,
    },
}
