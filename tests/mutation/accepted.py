"""Mutants that no test can or should notice, each with the reason."""

from __future__ import annotations

_TITLE = "the title of a progress bar"
_BLOCK = "the size of a block changes no result"
_WAY = "other steps to the same minimum"
_SEED = "any seed will do, as long as it stays the same"
_ANY_NEGATIVE = "NumPy takes any negative length as the one to work out"

ACCEPTED: dict[str, dict[str, str]] = {
    "confidence": {
        "_STEPS = 50 => 50 to 51": "a dozen are enough",
        "step = torch.linalg.solve((x.T * (p * (1 - p))) @ x + torch.diag(penalty + _TINY), gradient)"
        " => Add to Sub #2": _WAY,
        "while loss(w - step) > loss(w) and step.abs().max() > _TINY: => Gt to GtE": _WAY,
        "while loss(w - step) > loss(w) and step.abs().max() > _TINY: => Gt to GtE #2": _WAY,
        "step = step / 2 => 2 to 3": _WAY,
        "if step.abs().max() <= _TINY: => LtE to Lt": _WAY,
        "break => Break to Continue": "steps after the last change nothing",
    },
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
    "judge.calibration": {
        "_ROUNDS = 50 => 50 to 51": "a dozen are enough",
        "if w[0] < _EDGE:  # a larger softmax never means a smaller probability: only the bias is learnt"
        " => Lt to LtE": "both sides of the edge are the same there",
        "curvature = (x.T * (slope.square() / (p * (1 - p)))) @ x + torch.diag(penalty) => Div to Mult": _WAY,
        "curvature = (x.T * (slope.square() / (p * (1 - p)))) @ x + torch.diag(penalty) => Mult to Div #2": _WAY,
        "curvature = (x.T * (slope.square() / (p * (1 - p)))) @ x + torch.diag(penalty) => Sub to Add": _WAY,
        "curvature = (x.T * (slope.square() / (p * (1 - p)))) @ x + torch.diag(penalty) => 1 to 2": _WAY,
        "now, best = _loss(w, x, y, share), _loss(w - step, x, y, share) => Sub to Add": _WAY,
        "while best > now and step.abs().max() > _EDGE: => Gt to GtE": _WAY,
        "while best > now and step.abs().max() > _EDGE: => Gt to GtE #2": _WAY,
        "step = step / 2 => 2 to 3": _WAY,
        "if not best < now: => Lt to LtE": _WAY,
        "break => Break to Continue": "steps after the last change nothing",
    },
    "judge.kinds": {
        "_ROWS = 8192  # at a time => 8192 to 8193": _BLOCK,
        "_SAMPLE = 5000  # most frequent words that the components are those of => 5000 to 5001": "one word of 5 000",
        "values, basis = torch.linalg.eigh(sample.T @ sample / max(len(sample), 1)) => 1 to 2": (
            "a single word has no components, and neither has none"
        ),
    },
    "judge.logit": {
        "_NEVER = -1e4  # score of what is no candidate => 10000.0 to 10001.0": "far below any score in both cases",
        "_ROUNDS = 50 => 50 to 51": "a dozen are enough",
        "known = dict(zip(self.names, self.values, strict=True)) => True to False": "reading a judge checks it",
        "while (now := loss(w - step)) > before and step.abs().max() > _TINY: => Gt to GtE": _WAY,
        "while (now := loss(w - step)) > before and step.abs().max() > _TINY: => Gt to GtE #2": _WAY,
        "step = step / 2 => 2 to 3": _WAY,
        "if not now < before: => Lt to LtE": _WAY,
        "break => Break to Continue": "steps after the last change nothing",
        "break => Break to Continue #2": "steps after the last change nothing",
        "w, gained, before = w - step, before - now, now => Sub to Add #2": "steps after the last change nothing",
        "if gained < _SETTLED * n: => Lt to LtE": _WAY,
        "if gained < _SETTLED * n: => Mult to Div": "steps after the last change nothing",
    },
    "judge.space": {
        "_ROWS = 1024  # words judged at a time => 1024 to 1025": _BLOCK,
        "return Hits(*(torch.cat(column) for column in zip(*blocks, strict=True))) => True to False": "all have four",
        "key = torch.arange(columns[0].shape[1], device=like.device).repeat(len(like), 1).float() => 0 to 1": (
            "all columns have one shape"
        ),
    },
    "model.marks": {
        "self._offset, self._inode = 0, -1 => USub dropped": "any number that is not the journal's will do",
        "self._offset, self._inode = 0, -1 => 1 to 2": "any number that is not the journal's will do",
    },
    "normalize": {
        "_BLOCK = 8192  # rows taken to double precision at a time => 8192 to 8193": _BLOCK,
    },
    "retrieve": {
        "UNKNOWN = -1  # row of a best candidate that has not been searched yet => 1 to 2": "any negative row will do",
        "title: str = \"neighbourhoods\", => 'neighbourhoods' changed": _TITLE,
        "for start, scores in score_blocks(queries, candidates, bias, memory=memory // 2): => 2 to 3": _BLOCK,
    },
}
