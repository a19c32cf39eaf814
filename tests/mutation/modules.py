"""The modules that decide, and the tests that must notice when they decide wrongly: fast ones, without training."""

from __future__ import annotations

_READERS = ["tests/io/test_text.py", "tests/io/test_parse.py", "tests/io/test_word2vec.py", "tests/io/test_fasttext.py"]

MODULES: dict[str, list[str]] = {
    "lexicon": ["tests/test_lexicon.py"],
    "normalize": ["tests/test_normalize.py"],
    "evaluate.scores": ["tests/evaluate/test_scores.py"],
    "evaluate.groups": ["tests/evaluate/test_groups.py"],
    "induce": ["tests/test_induce.py"],
    "model.marks": ["tests/model/test_journal.py"],
    "retrieve": ["tests/test_retrieve.py", "tests/test_space.py"],
    "confidence": ["tests/test_confidence.py"],
    "spelling.folding": ["tests/spelling/test_folding.py"],
    "spelling.ngrams": ["tests/spelling/test_ngrams.py"],
    "spelling.letters": ["tests/spelling/test_letters_by_hand.py", "tests/spelling/test_letters.py"],
    "judge.logit": ["tests/judge/test_logit.py"],
    "judge.calibration": ["tests/judge/test_calibration.py"],
    "judge.panel": ["tests/judge/test_panel.py", "tests/judge/test_space.py"],
    "judge.space": ["tests/judge/test_space.py"],
    "judge.words": ["tests/judge/test_words.py"],
    "judge.kinds": ["tests/judge/test_kinds.py"],
    "model.folder": ["tests/model/test_folder.py", "tests/model/test_old_format.py"],
    "io.atomic": ["tests/io/test_atomic.py"],
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
