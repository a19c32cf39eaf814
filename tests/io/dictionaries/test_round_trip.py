"""Ten thousand entries come back word for word from every format."""

import pytest
from tests.io.dictionaries.words import TAKEN, entries, pairs, turned

from lnmap.io import DICTIONARY_FORMATS, read_lexicon, write_dictionary

LEXICON = entries()


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_word_for_word(tmp_path, name):
    kind = DICTIONARY_FORMATS[name]
    held = [(s, t) for s, t in pairs(LEXICON) if kind.holds(s) and kind.holds(t)]
    path = tmp_path / "dictionary"  # a name that says nothing about the format
    written = write_dictionary(path, LEXICON, format=name, languages="en,he")
    assert (written.pairs, written.left_out) == (len(held), len(LEXICON) - len(held))
    assert len(held) > 5000
    if name in ("moses", "tsv"):  # tokens have no blanks, and lines are cut at tabs
        assert written.left_out
    found = read_lexicon(path)
    assert sorted(found) == sorted(held)
    assert found.origin["format"] == name
    assert found.origin["skipped"] == []


@pytest.mark.parametrize("name", [name for name, kind in DICTIONARY_FORMATS.items() if not kind.both_apart])
def test_both_directions_joined(tmp_path, name):
    kind = DICTIONARY_FORMATS[name]
    lexicon, other = LEXICON[:600], turned(entries(600, seed=1))
    held = {(s, t) for s, t in {*pairs(lexicon), *pairs(turned(other))} if kind.holds(s) and kind.holds(t)}
    written = write_dictionary(tmp_path / "both", lexicon, other, name, languages="en,he")
    found = list(read_lexicon(tmp_path / "both"))
    assert len(found) == len(held) == written.pairs
    assert set(found) == held


@pytest.mark.parametrize("name", ["stardict", "yomitan", "moses"])
def test_both_directions_apart(tmp_path, name):
    kind = DICTIONARY_FORMATS[name]
    lexicon, other = LEXICON[:600], turned(entries(600, seed=1))
    write_dictionary(tmp_path / "both", lexicon, other, name, languages="en,he")
    for part, own in (("en-he", lexicon), ("he-en", other)):
        file = tmp_path / "both" / (f"dict-{part}.gz" if name == "moses" else part + kind.suffix)
        held = {(s, t) for s, t in pairs(own) if kind.holds(s) and kind.holds(t)}
        assert set(read_lexicon(file)) == held


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_what_cannot_be_held_is_left_out_and_counted(tmp_path, name):
    lexicon = entries(300, sorted(TAKEN)) + entries(300, ["plain", "word", "maison"], seed=2)
    kind = DICTIONARY_FORMATS[name]
    held = {(s, t) for s, t in pairs(lexicon) if kind.holds(s) and kind.holds(t)}
    written = write_dictionary(tmp_path / "x", lexicon, format=name)
    assert written.pairs == len(held)
    assert bool(written.left_out) == any(not kind.holds(word) for word in TAKEN)
    if written.left_out:
        assert written.cannot_hold
    found = {(s.strip(), t.strip()) for s, t in held}
    assert {(s.strip(), t.strip()) for s, t in read_lexicon(tmp_path / "x")} == found


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_same_lexicon_same_bytes(tmp_path, name):
    for number in (1, 2):
        write_dictionary(tmp_path / f"{number}.zip", LEXICON[:200], turned(LEXICON[:200]), name, languages="en,he")
    assert (tmp_path / "1.zip").read_bytes() == (tmp_path / "2.zip").read_bytes()


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_an_empty_dictionary_can_be_written(tmp_path, name):
    written = write_dictionary(tmp_path / "empty.zip", [], [], name)
    assert (written.pairs, written.left_out) == (0, 0)
    assert (tmp_path / "empty.zip").stat().st_size >= 0
