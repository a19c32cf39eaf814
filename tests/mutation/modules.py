"""The modules that decide, and the tests that must notice when they decide wrongly: fast ones, without training."""

from __future__ import annotations

_READERS = ["tests/io/test_text.py", "tests/io/test_parse.py", "tests/io/test_word2vec.py", "tests/io/test_fasttext.py"]

MODULES: dict[str, list[str]] = {
    "lexicon": ["tests/test_lexicon.py"],
    "normalize": ["tests/test_normalize.py"],
    "evaluate.scores": ["tests/evaluate/test_scores.py"],
    "evaluate.groups": ["tests/evaluate/test_groups.py"],
    "induce": ["tests/test_induce.py"],
    "model.marks": ["tests/model/test_marks.py"],
    "retrieve": ["tests/test_retrieve.py"],
    "confidence": ["tests/model/test_confidence.py"],
    "spelling.folding": ["tests/spelling"],
    "spelling.ngrams": ["tests/spelling"],
    "spelling.letters": ["tests/spelling"],
    "judge.logit": ["tests/judge"],
    "judge.calibration": ["tests/judge"],
    "judge.panel": ["tests/judge"],
    "judge.space": ["tests/judge"],
    "judge.words": ["tests/judge"],
    "model.folder": ["tests/model/test_parts.py"],
    "io.atomic": ["tests/io/test_atomic.py", "tests/io/test_append.py", "tests/io/test_temporary.py"],
    "io.cache": ["tests/io/test_cache.py"],
    "io.policy": _READERS,
    "io.collect": _READERS,
    "io.formats.store": ["tests/io/test_store.py"],
    "io.formats.decimals": ["tests/io/test_parse.py"],
    "io.formats.parse": _READERS,
    "io.formats.text": _READERS,
    "io.formats.word2vec": _READERS,
    "io.formats.fasttext": _READERS,
}
