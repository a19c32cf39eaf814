"""What stands in written dictionaries: headwords, order, marks, both directions; and whole files or none."""

import gzip
import importlib.util
import json
import re
import sys
import zipfile

import pytest
from tests.helpers import CannotMountError, small_disk
from tests.io.dictionaries.words import entries, turned

import lnmap
from lnmap.errors import LnmapError, OptionError, OutputError
from lnmap.io import DICTIONARY_FORMATS, write_dictionary
from lnmap.io.atomic import TEMPORARY
from lnmap.io.dictionaries.alphabet import alphabet_of
from lnmap.io.dictionaries.content import Pair
from lnmap.io.dictionaries.moses import probabilities
from lnmap.model import Entry

needs_icu = pytest.mark.skipif(
    importlib.util.find_spec("icu") is None,
    reason="a language's own alphabet needs PyICU: pip install 'lnmap[alphabet]'",
)
LEXICON = [
    Entry("zoo", "zoo", 0.9, 0.8, 0.9),
    Entry("house", "foyer", 0.7, 0.6, 0.2),
    Entry("house", "maison", 0.6, 0.6, 0.7),
    Entry("house", "chez-soi", None, None, None, given=True),
    Entry("Éire", "Irlande", 0.5, 0.5, 0.6),
]
BACK = [Entry("maison", "house", 0.9, 0.8, 0.9), Entry("maison", "home", 0.8, 0.8, 0.4)]


def text(tmp_path, name, *lexicons, **options):
    options = {"languages": "en,fr", **options}
    write_dictionary(tmp_path / f"x.{name}", *lexicons or (LEXICON,), format=name, **options)
    return (tmp_path / f"x.{name}").read_text(encoding="utf-8")


def test_entries_are_grouped_given_first_then_the_surest(tmp_path):
    write_dictionary(tmp_path / "x", LEXICON, format="stardict", languages="en,fr", title="my book")
    assert gzip.decompress((tmp_path / "x/en-fr.dict.dz").read_bytes()).decode() == (
        "chez-soi\tgiven\nmaison\t70%\nfoyer\t20%zoo\t90%Irlande\t60%"
    )
    assert (tmp_path / "x/en-fr.ifo").read_text().splitlines() == [
        *("StarDict's dict ifo file", "version=2.4.2", "bookname=my book (en-fr)", "wordcount=3", "idxfilesize=40"),
        *("author=lnmap", "sametypesequence=m"),
    ]


def test_tables_have_the_best_pairs_first(tmp_path):
    assert text(tmp_path, "tsv").splitlines()[:3] == [
        "source\ttarget\tcsls\tcosine\tconfidence\tgiven",
        "zoo\tzoo\t0.900000\t0.800000\t0.900000\tfalse",
        "house\tfoyer\t0.700000\t0.600000\t0.200000\tfalse",
    ]
    assert text(tmp_path, "csv").splitlines()[:2] == [
        '\ufeff"source","target","csls","cosine","confidence","given"',
        '"zoo","zoo","0.900000","0.800000","0.900000","false"',
    ]
    assert json.loads(text(tmp_path, "json").splitlines()[3]) == {
        **{"source": "house", "target": "chez-soi", "csls": None, "cosine": None, "confidence": None, "given": True}
    }
    plain = [Entry("a", "b", 0.1, 0.2)]
    assert text(tmp_path, "tsv", plain).splitlines()[0] == "source\ttarget\tcsls\tcosine"


def test_pairs_of_both_directions_come_once(tmp_path):
    lines = text(tmp_path, "hunalign", LEXICON, BACK).splitlines()
    assert lines[0] == "zoo @ zoo"
    assert sorted(lines[1:]) == [
        "Irlande @ Éire",
        "chez-soi @ house",
        "foyer @ house",
        "maison @ home",
        "maison @ house",
    ]
    entry = re.findall("<e.*", text(tmp_path, "apertium", LEXICON, BACK))
    assert '<e c="0.7000" w="1"><p><l>house</l><r>maison</r></p></e>' in entry
    assert '<e r="RL" c="0.4000"><p><l>home</l><r>maison</r></p></e>' in entry
    assert '<e r="LR" a="given"><p><l>house</l><r>chez-soi</r></p></e>' in entry
    assert ' r="' not in text(tmp_path, "apertium")


def test_marks_of_given_pairs(tmp_path):
    assert '<gloss lang="fr"><text>chez-soi</text></gloss><trait name="given" value="true"/>' in text(tmp_path, "lift")
    assert '<tu><prop type="given">true</prop><tuv xml:lang="en"><seg>house' in text(tmp_path, "tmx")
    assert '<span lang="fr" dir="auto">chez-soi</span>*, ' in text(tmp_path, "html")
    write_dictionary(tmp_path / "y.zip", LEXICON, format="yomitan", languages="en-GB,fr")
    with zipfile.ZipFile(tmp_path / "y.zip") as archive:
        terms = [term for term in json.loads(archive.read("term_bank_1.json")) if term[0] == "house"]
        index = json.loads(archive.read("index.json"))
    assert [(term[2], term[5]) for term in terms] == [("given", ["chez-soi"]), ("", ["maison", "foyer"])]
    assert (index["sourceLanguage"], index["targetLanguage"], index["title"]) == ("en", "fr", "en-GB-fr")


def test_page_has_letters_columns_and_both_directions(tmp_path):
    page = text(tmp_path, "html", LEXICON, BACK, title="A <book>")
    assert re.findall("<h2>(.*?)</h2>", page) == ["E", "H", "Z", "M"]
    assert re.findall("<h1>(.*?)</h1>", page) == ["A &lt;book&gt; (en-fr)", "A &lt;book&gt; (fr-en)"]
    assert "columns: 2" in page
    assert "Translations marked * were given by a person." in page
    assert '<div class="letters" lang="he" dir="rtl">' in text(tmp_path, "html", languages="he,en")


def test_many_yomitan_terms_are_several_banks(tmp_path):
    write_dictionary(tmp_path / "y.zip", [Entry(f"w{i}", "x", 1, 1) for i in range(20_001)], format="yomitan")
    with zipfile.ZipFile(tmp_path / "y.zip") as archive:
        assert [name for name in archive.namelist() if "term" in name] == [f"term_bank_{i}.json" for i in (1, 2, 3)]


def test_probabilities_add_up():
    pairs = [Pair("a", "b", given=True), Pair("a", "c", confidence=0.5), Pair("a", "d", confidence=0.0)]
    shares = probabilities(pairs)
    assert shares == pytest.approx([2 / 3, 1 / 3, 0], abs=1e-5)
    assert shares[2] > 1e-7
    uncalibrated = probabilities([Pair("a", "b", csls=0.3), Pair("a", "c", csls=0.2)])
    assert uncalibrated[0] / uncalibrated[1] == pytest.approx(2.718, abs=0.01)
    assert sum(uncalibrated) == pytest.approx(1)


@pytest.mark.parametrize(
    ("file", "kind"),
    [
        *(("x.csv", "csv"), ("x.jsonl", "json"), ("x.json", "json"), ("x.dic", "hunalign"), ("x.lift", "lift")),
        *(
            ("x.dix", "apertium"),
            ("x.TMX", "tmx"),
            ("x.html", "html"),
            ("x.htm", "html"),
            ("x.zip", "tsv"),
            ("x", "tsv"),
        ),
    ],
)
def test_format_by_the_name(tmp_path, file, kind):
    assert lnmap.write_dictionary(tmp_path / file, LEXICON).format == kind


def test_unknown_format(tmp_path):
    with pytest.raises(OptionError, match="unknown dictionary format 'mdx'; choose from tsv, csv, json, hunalign"):
        write_dictionary(tmp_path / "x", LEXICON, format="mdx")


def test_unknown_languages_have_private_codes(tmp_path):
    write_dictionary(tmp_path / "x.tmx", LEXICON)
    assert '<tuv xml:lang="x-source"><seg>zoo</seg></tuv><tuv xml:lang="x-target">' in (tmp_path / "x.tmx").read_text()


def test_several_files_are_a_new_folder_or_an_archive(tmp_path):
    names = ["en-fr.dict.dz", "en-fr.idx", "en-fr.ifo", "fr-en.dict.dz", "fr-en.idx", "fr-en.ifo"]
    write_dictionary(tmp_path / "book", LEXICON, BACK, "stardict", languages="en,fr")
    assert sorted(path.name for path in (tmp_path / "book").iterdir()) == names
    with pytest.raises(
        OutputError, match=r"is there already, and this format is a folder of 6 files; choose another out"
    ):
        write_dictionary(tmp_path / "book", LEXICON, BACK, "stardict", languages="en,fr")
    for _ in range(2):
        write_dictionary(tmp_path / "book.zip", LEXICON, BACK, "stardict", languages="en,fr")
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        assert sorted(archive.namelist()) == names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["book", "book.zip"]


def test_plain_order(monkeypatch):
    monkeypatch.setitem(sys.modules, "icu", None)  # as if it were not installed
    alphabet = alphabet_of("en")
    words = ["zebra", "Éa", "eb", "ea", "-x", "1", "ש", "?"]
    assert sorted(words, key=alphabet.key) == ["1", "?", "ea", "Éa", "eb", "-x", "zebra", "ש"]
    assert [alphabet.heading(word) for word in words] == ["Z", "E", "E", "E", "X", "#", "ש", "#"]
    assert not alphabet.own


@needs_icu
@pytest.mark.parametrize(
    ("language", "words", "letters"),
    [
        ("sv", ["az", "zz", "åa", "äa", "öa"], "AZÅÄÖ"),
        ("de", ["äa", "az", "öa", "zz"], "AAOZ"),
        ("cs", ["cz", "hz", "cha", "ia"], ["C", "H", "CH", "I"]),
        ("es", ["nz", "ña", "oa"], "NÑO"),
        ("he", ["1", "אב", "בא"], "#אב"),
        ("x-source", ["1", "a", "é", "שלום"], "#AEש"),
    ],
)
def test_own_alphabet(language, words, letters):
    alphabet = alphabet_of(language)
    assert sorted(reversed(words), key=alphabet.key) == words
    assert [alphabet.heading(word) for word in words] == [*letters]
    assert alphabet.own
    assert alphabet.key("caf\udce9")


@pytest.mark.parametrize("name", DICTIONARY_FORMATS)
def test_a_full_disk_changes_nothing(tmp_path, name):
    lexicon = entries(20_000, [f"word{i}é" for i in range(500)])
    try:
        with small_disk(tmp_path / "disk", 96) as disk:
            path = disk / "book.zip"
            path.write_bytes(b"old")
            with pytest.raises(LnmapError, match="No space left on device"):
                write_dictionary(path, lexicon, turned(lexicon), name)
            assert path.read_bytes() == b"old"
            with pytest.raises(LnmapError, match="No space left on device"):
                write_dictionary(disk / "new", lexicon, turned(lexicon), name)
            assert [one.name for one in disk.iterdir()] == ["book.zip"]
            assert not list(disk.rglob(f"{TEMPORARY}*"))
    except CannotMountError as reason:
        pytest.skip(str(reason))
